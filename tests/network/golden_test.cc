// Every recorded run of ASTRA-sim, in process: equal ticks, statistics and finish order, or a diagnostic where
// ASTRA-sim crashes or gets stuck.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "case_file.h"

namespace hespas::network_test {
namespace {

using nlohmann::json;

Result<result::SimResult> Run(const Golden& golden) {
  const Result<Case> built = BuildCase(golden.in);
  if (!built) return built.error();
  Diagnostics diagnostics;
  return simulate::Simulate(built->trace, built->system, built->options, diagnostics);
}

// Where we answer although ASTRA-sim ends for a reason of its own (documented in docs/simulation.md).
bool AnsweredBeyond(const Golden& golden) {
  const std::string error = golden.out.value("err", "");
  return error.find("get_event_time() > current_time") != std::string::npos ||
         error.find("!connected(id)") != std::string::npos ||
         error.find("only support 1-dim topology") != std::string::npos ||
         error.find("Only GPU and COMM types") != std::string::npos ||
         error.find("json.exception") != std::string::npos;
}

// The averages that roofline runs print, of every rank.
std::string RooflineDifference(const Golden& golden, const result::SimResult& got) {
  if (!golden.out.contains("roof")) return "";
  for (const result::RankResult& rank : got.ranks) {
    if (!rank.roofline) return "no roofline averages";
    const std::pair<const char*, double> figures[] = {
        {"Compute bound percentage", rank.roofline->compute_bound},
        {"Average compute utilization", rank.roofline->compute_utilisation},
        {"Average memory utilization", rank.roofline->memory_utilisation},
        {"Average operation intensity", rank.roofline->operation_intensity}};
    for (const auto& [name, value] : figures) {
      const std::string want = golden.out["roof"].value(name, "");
      if (fmt::format("{:.3f}", value) != want) return fmt::format("{}: {:.3f} instead of {}", name, value, want);
    }
  }
  return "";
}

// ASTRA-sim waits for ever, or crashes, at what this system cannot perform; apart from that, waiting is E0702 and a
// crash has its cause in the trace or in system.json.
bool IsExpected(const std::string& kind, const Error& error) {
  const std::string_view code = error.kind->code;
  if (code == simulate::kNotPossible.code) return true;
  if (kind == "stuck") return code == simulate::kNeverFinishes.code;
  return code == simulate::kBadTrace.code || code == hardware::kBadSystem.code;
}

// A run that cannot finish says why (exit status 4) and names NPU and node.
std::string DefectOfDiagnostic(const std::string& kind, const Error& error) {
  if (!IsExpected(kind, error)) return fmt::format("{} instead of what fits: {}", error.kind->code, error.message);
  if (error.kind->code == hardware::kBadSystem.code)
    return "";  // before there are NPUs; `hespas simulate` exits with 4
  if (error.kind->outcome != Outcome::kCannotRun) return "exit status is not 4: " + error.message;
  if (error.message.starts_with("communicator group")) return "";  // its file is at fault
  if (error.message.ends_with("has no node")) return "";
  for (const char* named : {"NPU ", "node "}) {
    if (error.message.find(named) == std::string::npos) return fmt::format("names no {}: {}", named, error.message);
  }
  return "";
}

// What is wrong with our answer; empty if nothing.
std::string Difference(const Golden& golden) {
  const Result<result::SimResult> got = Run(golden);
  if (golden.kind != "ok" && golden.kind != "ok-nostats") {
    if (!got) return DefectOfDiagnostic(golden.kind, got.error());
    return AnsweredBeyond(golden) ? "" : "an answer instead of a diagnostic";
  }
  if (!got) return got.error().message;
  const json answer = Answer(*got);
  for (const char* key : {"fin", "exposed", "wall", "gpu", "comm", "overlap", "order"}) {
    if (answer.value(key, json()) == golden.out.value(key, json())) continue;
    return fmt::format("{}: {} instead of {}", key, answer.value(key, json()).dump().substr(0, 120),
                       golden.out.value(key, json()).dump().substr(0, 120));
  }
  return RooflineDifference(golden, *got);
}

TEST(Golden, EveryRunOfAstraSim) {
  const std::vector<Golden> goldens = ReadGoldens(HESPAS_NETWORK_DATA);
  ASSERT_EQ(goldens.size(), 3725u);
  std::map<std::string, int> wrong;
  int failures = 0;
  for (const Golden& golden : goldens) {
    if (golden.kind == "undefined") continue;
    const std::string difference = Difference(golden);
    if (difference.empty()) continue;
    ++wrong[golden.id.substr(0, golden.id.find('/'))];
    if (++failures <= 40) ADD_FAILURE() << golden.kind << " " << golden.id << ": " << difference;
  }
  for (const auto& [group, count] : wrong) ADD_FAILURE() << group << ": " << count << " wrong";
}

}  // namespace
}  // namespace hespas::network_test
