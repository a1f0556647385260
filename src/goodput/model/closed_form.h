// Expected length of a run in closed form: renewal theory.
//
// - Each failure is a renewal. With one tier of checkpoints useful work for each second is, by the renewal-reward
//   theorem, the work saved between two failures over their mean distance, for any distribution. For exponential
//   failures this is Daly's formula (Future Generation Computer Systems 22, 2006).
// - With tiers and exponential failures it is an absorbing Markov chain over the checkpoints since the last one in
//   storage.
// - Nodes in repair are an Erlang loss system (jobs that wait) or a birth-death chain (elastic jobs).
#pragma once

#include "goodput/model/plan.h"

namespace hespas::goodput {

struct ClosedForm {
  double wall = 0;        // seconds
  double efficiency = 0;  // work / wall of an endless run
  double running = 1;     // fraction of the time in which there are enough nodes
  bool exact = true;      // false: first order in what the chain leaves out (see docs/goodput.md)
};

// `plan` has passed Check.
ClosedForm Expected(const Plan& plan);

// The intervals that others recommend, from the time a checkpoint costs and the mean time between failures.
double YoungInterval(double cost, double mtbf);  // Young, CACM 17 (1974)
double DalyInterval(double cost, double mtbf);   // Daly (2006), higher order
// The interval with the shortest expected run.
double BestInterval(const Plan& plan);

// The chance that all of `servers` are busy: offered load `load`.
double ErlangB(double load, int64_t servers);

}  // namespace hespas::goodput
