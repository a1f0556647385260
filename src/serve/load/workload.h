// Requests and when they come: a closed loop of clients, an open loop at a rate, or a trace.
//
// - Equal options give equal requests on any machine. Arrivals, prompts and answers have a random stream each, so one
//   option does not change what another draws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/load/length.h"

namespace hespas::serve {

inline constexpr DiagnosticKind kBadLoad{
    "E0711",
    "A load is a number of clients (--concurrency), a rate (--rate, or inf for all at once) or a trace (--trace). "
    "Lengths are a number, uniform:A:B, exponential:MEAN, geometric:MEAN, lognormal:MEAN:CV or file:CSV; arrivals are "
    "poisson, regular or gamma:SHAPE.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kBadTrace{
    "E0712",
    "A trace of requests has one request a row: Azure's (TIMESTAMP, ContextTokens, GeneratedTokens), BurstGPT's "
    "(Timestamp, Request tokens, Response tokens), Mooncake's JSON lines (timestamp in ms, input_length, "
    "output_length), or arrival_s, input_tokens, output_tokens. Each request has at least one token each way."};

struct Request {
  double arrival = 0;  // of an open loop
  int64_t input = 1;
  int64_t output = 1;
};

struct Load {
  std::string input;  // a length
  std::string output;
  std::optional<int64_t> clients;  // closed loop
  std::optional<double> rate;      // requests/s; infinite: all at once
  std::string arrivals = "poisson";
  std::string trace;      // a file
  std::string trace_run;  // of a trace with a column `run`
  std::optional<int64_t> requests;
  uint64_t seed = 1;
};

struct Workload {
  std::vector<Request> requests;   // by arrival
  std::optional<int64_t> clients;  // closed loop
  int64_t Longest() const;         // tokens in and out
};

// Whether so many requests can be simulated.
Status CheckCount(int64_t requests);
Result<Workload> MakeWorkload(const Load& load);

// Requests of a trace file, from time 0 on.
Result<std::vector<Request>> ReadTrace(const std::string& path, const std::string& run);

}  // namespace hespas::serve
