// Statistics of a run as the prototype keeps and writes them: module_stats.json and the printed summary.
//
// - Sums are left to right in doubles, in the prototype's order, so that every printed digit is the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/compat/log.h"

namespace hespas::driver::compat {

// What one op of a block costs.
struct OpRecord {
  std::string name;
  std::string datatype;
  double seconds = 0;
  double compute_seconds = 0;  // at the rate the op really ran at
  int64_t flops = 0;
  int64_t bytes = 0;
};

struct DatatypeStatistics {
  std::string name;
  int64_t flops = 0;
  double seconds = 0;
  double compute_seconds = 0;
  double utilisation = 0;
};

struct OpStatistics {
  std::string name;
  double seconds = 0;
  int64_t count = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
  std::vector<DatatypeStatistics> datatypes;
};

struct Utilisation {
  double flops = 0;
  double bandwidth = 0;
  double average_flops = 0;      // per second
  double average_bandwidth = 0;  // bytes per second
};

// Sums over ops, of one module or of all.
struct Totals {
  double seconds = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
  std::vector<DatatypeStatistics> datatypes;
  std::vector<OpStatistics> ops;
  Utilisation utilisation;
  double energy = 0;
  double estimation_seconds = 0;  // wall time of this run
  double uncached_seconds = 0;    // wall time without reuse
};

struct Rates {
  double peak_flops = 0;
  double memory_bandwidth = 0;
  std::vector<std::pair<std::string, double>> per_datatype_flops;
  double tdp_w = 0;
  double hbm_power_ratio = 0;
  bool energy() const { return tdp_w != 0 && hbm_power_ratio != 0; }
};

class Statistics {
 public:
  // Under `compat` utilisation ignores promotion to TF32 and the energy of the whole is that of the last module.
  Statistics(Rates rates, bool compat) : rates_(std::move(rates)), compat_(compat) {}

  // A module estimated from its ops, in order; returns its index.
  size_t AddModule(std::string file, const std::vector<OpRecord>& ops, size_t expanded_ops, double wall_seconds);
  // A module that was measured as a whole: of it only the time is known.
  size_t AddWholeModule(std::string file, double seconds, size_t expanded_ops, double wall_seconds);
  // A module equal to an earlier one.
  void AddHit(std::string file, size_t original, size_t expanded_ops);
  // The module added last was known from an earlier run.
  void CountHit(size_t expanded_ops);
  void Finish(double estimation_seconds);

  double seconds(size_t module) const { return modules_[module].totals.seconds; }
  std::string ToJson() const;
  void LogSummary(const Log& log) const;

 private:
  struct Module {
    std::string file;
    size_t original;  // itself, or the module whose estimate it shares
    Totals totals;    // of originals
  };

  size_t Add(std::string file, Totals totals, size_t expanded_ops, double wall_seconds);
  void Account(const Totals& module, size_t expanded_ops);
  void LogWork(const Log& log) const;
  void LogProportions(const Log& log) const;
  void Evaluate(Totals& totals) const;
  double Power(const Utilisation& utilisation) const;
  double RateOf(const std::string& datatype) const;

  Rates rates_;
  bool compat_;
  std::vector<Module> modules_;
  Totals root_;
  std::unordered_map<std::string, size_t> op_index_;  // into root_.ops
  bool whole_modules_ = false;                        // there are no figures of ops
  double last_seconds_ = 0;
  int64_t ops_processed_ = 0;
  int64_t hits_ = 0;
  int64_t hit_ops_ = 0;
};

}  // namespace hespas::driver::compat
