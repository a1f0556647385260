// The prototype's JSON configuration and command-line options, put together by its rules of precedence.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/compat/statistics.h"
#include "estimate/registry.h"
#include "hardware/device_figures.h"
#include "report/export/trace_files.h"
#include "split/split.h"

namespace hespas::driver::compat {

inline constexpr DiagnosticKind kMissingSetting{
    "E0910", "Neither the configuration nor the command line gives a setting that is needed.", Outcome::kUsage};
inline constexpr DiagnosticKind kBadSetting{"E0911",
                                            "A setting has a value of the wrong type or outside of its range."};
inline constexpr DiagnosticKind kUnknownSetting{
    "E0912",
    "The configuration holds a key that has no meaning there, most often a misspelling. Under --compat "
    "prototype keys outside of `hardware` that are unknown are ignored, as the prototype does."};
inline constexpr DiagnosticKind kUnknownSplit{
    "E0913", "There is no split strategy of that name; there are linear_split and individual_split."};
inline constexpr DiagnosticKind kMethodUnavailable{
    "E0914", "The estimator that the configuration names is not available to this command.", Outcome::kUnsupported};

// What the command line of hespas_chakra_gen and its siblings says.
struct CommandLine {
  std::string config_path;
  std::optional<bool> clean;
  std::optional<std::string> mlir_file;
  std::optional<std::string> output;
  std::optional<std::string> split;
  std::optional<int64_t> num_npus;
  std::optional<int64_t> block_limit;
  std::optional<bool> merge;
  std::optional<std::string> separator;
  std::optional<std::string> separator_policy;
  std::optional<std::string> separator_node_type;
  std::optional<int64_t> threads;
  std::optional<std::string> device;       // preset or file; the configuration's `hardware` replaces its figures
  std::optional<std::string> estimator;    // instead of the configuration's `method`
  hardware::DeviceFigures figures;         // of the environment, then of options
  std::set<std::string> from_environment;  // which of the above the environment gave, by option name
  bool print_config = false;
  bool print_metadata = false;  // of the splitter
  report::TraceFiles trace_files = report::TraceFiles::kAuto;
  bool compat = false;
  std::vector<std::pair<std::string, std::string>>
      tool;  // key of the estimator (driver/configuration/tool_keys.h) and its value
};

// A setting as --print-config shows it.
struct SettingRow {
  std::string name;
  std::string value;
  std::string origin;
};

struct Settings {
  std::string mlir_file;
  std::string output_dir;
  std::string cache_dir;
  bool clean = false;
  bool reuse = true;  // estimate equal blocks once
  bool keep = true;   // in cache_dir, for other runs
  std::optional<uint32_t> num_npus;
  std::string split_name;
  split::Options split;
  Rates rates;
  std::string method = "roofline";
  hardware::Device device;               // of the corrected estimators
  estimate::EstimatorOptions estimator;  // of external simulators
  bool error_on_unknown_type = false;
  bool warn_on_unknown_type = false;
  std::vector<SettingRow> rows;
};

// Defaults < device file < configuration < environment < options; with --compat prototype by the prototype's rules.
// `needs_estimator`: hespas_chakra_gen; hespas_mlir_splitter needs only the two paths.
Result<Settings> ReadSettings(const CommandLine& command, bool needs_estimator);

// The settings as a table.
std::string SettingsText(const Settings& settings);

}  // namespace hespas::driver::compat
