// The prototype's JSON configuration and command-line options, put together by its rules of precedence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "driver/compat/statistics.h"
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
  bool clean = false;
  std::optional<std::string> mlir_file;
  std::optional<std::string> output;
  std::optional<std::string> split;
  std::optional<int64_t> num_npus;
  std::optional<int64_t> block_limit;
  std::optional<bool> merge;
  std::optional<int64_t> threads;
  bool print_metadata = false;  // of the splitter
  bool compat = false;
};

struct Settings {
  std::string mlir_file;
  std::string output_dir;
  std::string cache_dir;
  bool clean = false;
  bool reuse = true;
  std::optional<uint32_t> num_npus;
  std::string split_name;
  split::Options split;
  Rates rates;
  bool error_on_unknown_type = false;
  bool warn_on_unknown_type = false;
};

// `needs_estimator`: hespas_chakra_gen; hespas_mlir_splitter needs only the two paths.
Result<Settings> ReadSettings(const CommandLine& command, bool needs_estimator);

}  // namespace hespas::driver::compat
