#include "report/text/efficiency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/text/table.h"

namespace hespas::report {
namespace {

constexpr size_t kNamed = 3;  // kernels, before "and N more"
// Devices fuse differently, and what a fusion computes twice counts twice; more than that is other work.
constexpr double kSameFlops = 0.05;
constexpr double kSameBatch = 0.001;

// "4.10 k to 8.19 k tokens a step" where they differ, else "".
std::string Range(std::vector<double> values, double same, const std::string& unit) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*most - *least <= same * *most) return {};
  return fmt::format("{} to {} {}", HumanNumber(*least), HumanNumber(*most), unit);
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string Joined(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + ", " + b; }

FigureLine Utilisation(const result::RunResult& r) {
  const std::string hfu = HumanPercent(r.hardware_flops_utilisation);
  if (!r.model_flops_utilisation) return {"HFU", hfu, "MFU unknown: recomputation cannot be told"};
  const std::string mfu = HumanPercent(*r.model_flops_utilisation);
  if (*r.model_flops_utilisation == r.hardware_flops_utilisation) return {"MFU", mfu, "HFU equal: no recomputation"};
  return {"MFU", mfu, fmt::format("without recomputation; HFU {}", hfu)};
}

}  // namespace

std::string HumanNumber(double value) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && std::abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  const int digits = value >= 99.95 || value == 0 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, digits, kUnits[unit]);
}

std::vector<FigureLine> EfficiencyLines(const result::RunResult& r) {
  std::vector<FigureLine> lines;
  if (const auto rate = r.rate_per_device()) {
    lines.push_back({"throughput", HumanNumber(*rate),
                     fmt::format("{}/s per device, {} in all", r.throughput->unit, HumanNumber(*r.rate()))});
  }
  if (r.hardware_flops_utilisation > 0) lines.push_back(Utilisation(r));
  return lines;
}

WorkOfStep WorkOf(const result::RunResult& r) {
  return {.flops = r.flops_of_all(), .batch = r.batch(), .unit = r.throughput ? r.throughput->unit : ""};
}

std::string UnequalWork(const std::vector<WorkOfStep>& runs) {
  std::vector<double> flops;
  std::vector<double> batches;
  for (const WorkOfStep& run : runs) {
    flops.push_back(run.flops);
    if (run.batch && run.unit == runs.front().unit) batches.push_back(*run.batch);
  }
  if (batches.size() < runs.size()) batches.clear();
  const std::string what = Joined(Range(batches, kSameBatch, runs.empty() ? "" : runs.front().unit + " a step"),
                                  Range(flops, kSameFlops, "FLOPs on all devices"));
  if (what.empty()) return {};
  return fmt::format("UNEQUAL WORK: {}. Step times alone do not rank these runs.", what);
}

std::string FitWarning(const result::RunResult& r) {
  if (r.fits_in_memory.value_or(true) || !r.peak_memory || !r.memory_capacity) return {};
  const char* times = r.schedule_limit ? "Overlap is that of XLA's schedule under the memory limit (--schedule-limit)."
                                       : "Times are those that it would have with enough memory.";
  return fmt::format("the program DOES NOT FIT: it needs {}, {} has {}. {}", HumanBytes(*r.peak_memory), r.device,
                     HumanBytes(*r.memory_capacity), times);
}

UnknownShare ShareOf(const result::RunResult& r, const result::UnknownKernel& kernel) {
  int64_t ops = 0;
  for (const auto& op : r.ops) ops += op.count;
  return {.ops = Ratio(static_cast<double>(kernel.count), static_cast<double>(ops)),
          .bytes = Ratio(static_cast<double>(kernel.bytes.value), static_cast<double>(r.bytes_accessed.value))};
}

std::string UnknownWarning(const result::RunResult& r) {
  if (r.unknown_kernels.empty()) return {};
  result::UnknownKernel all;
  std::vector<std::string> names;
  for (const result::UnknownKernel& kernel : r.unknown_kernels) {
    all.count += kernel.count;
    all.bytes += kernel.bytes;
    if (names.size() < kNamed) names.push_back(kernel.name);
  }
  const size_t more = r.unknown_kernels.size() - names.size();
  const UnknownShare share = ShareOf(r, all);
  return fmt::format(
      "the cost of {}{} is NOT KNOWN: {} of operations, {} of bytes. --cost NAME=flops:...,bytes:... "
      "gives it.",
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "", HumanPercent(share.ops),
      HumanPercent(share.bytes));
}

}  // namespace hespas::report
