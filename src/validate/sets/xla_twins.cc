#include "validate/sets/xla_twins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "driver/inspect/kernels/kernel_summary.h"
#include "driver/pipeline/run.h"
#include "hardware/presets.h"
#include "read/read.h"

namespace hespas::validate {
namespace {

namespace fs = std::filesystem;

struct Files {
  std::string program;
  std::string optimised;
  std::string name;
  std::string device;
};

// The name without what it is packed by and `ending`; nothing where it ends otherwise.
std::optional<std::string> StemOf(const fs::path& file, std::string_view ending) {
  std::string name = file.filename().string();
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  if (!name.ends_with(ending)) return std::nullopt;
  name.resize(name.size() - ending.size());
  return name;
}

std::vector<Files> PairsIn(const fs::path& folder) {
  std::map<std::string, fs::path> programs;
  std::map<std::string, fs::path> optimised;
  std::error_code unused;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unused)) {
    if (const auto name = StemOf(entry.path(), ".mlir")) programs[*name] = entry.path();
    if (const auto name = StemOf(entry.path(), ".hlo")) optimised[*name] = entry.path();
  }
  std::vector<Files> pairs;
  for (const auto& [stem, file] : optimised) {
    const size_t dot = stem.rfind('.');
    const auto program = dot == std::string::npos ? programs.end() : programs.find(stem.substr(0, dot));
    if (program == programs.end()) continue;
    pairs.push_back({program->second.string(), file.string(), program->first, stem.substr(dot + 1)});
  }
  return pairs;
}

std::optional<TwinFigures> FiguresOf(const std::string& path, const std::string& device,
                                     const driver::OptimiseOptions& optimise, Diagnostics& diagnostics) {
  auto module = read::ReadProgram(path, {}, diagnostics);
  const auto figures = hardware::LoadDevice(device, diagnostics);
  if (!module || !figures) return std::nullopt;
  const auto optimised = driver::OptimiseModule(*module, optimise, *figures, diagnostics);
  const auto run =
      driver::Run({.program = {.path = path}, .device = {.name = device}, .optimise = optimise}, diagnostics);
  if (!optimised || !run) return std::nullopt;
  const driver::Summary summary = driver::Summarise(*optimised);
  TwinFigures out{.kernels = static_cast<double>(summary.total()),
                  .bytes = static_cast<double>(summary.bytes_accessed),
                  .flops = static_cast<double>(summary.flops),
                  .step_seconds = run->step_time.seconds(),
                  .peak_bytes = run->peak_memory ? static_cast<double>(run->peak_memory->value) : 0,
                  .collectives = {}};
  for (const driver::CollectiveSummary& entry : summary.collectives) {
    out.collectives += fmt::format("{} {} ", entry.op, entry.bytes);
  }
  return out;
}

double Percent(double ours, double theirs) {
  if (theirs == 0) return ours == 0 ? 0 : 100;
  return 100 * (ours / theirs - 1);
}

// A figure that is compared, and what issue and documents promise of it.
struct Bounded {
  const char* name;
  double TwinFigures::*value;
  double near;          // percent, for nine of ten programs
  double far;           // percent, for all
  double absolute = 0;  // a difference of so much is none
};

constexpr Bounded kFigures[] = {
    {"kernels", &TwinFigures::kernels, 10, 25, 2},
    {"bytes", &TwinFigures::bytes, 8, 25},
    {"FLOPs", &TwinFigures::flops, 0.5, 0.5},
    {"step time", &TwinFigures::step_seconds, 10, 20},
    {"peak memory", &TwinFigures::peak_bytes, 10, 1e300},
};

double Difference(const Bounded& figure, const Twin& twin) {
  const double ours = twin.ours.*figure.value;
  const double theirs = twin.theirs.*figure.value;
  return std::abs(ours - theirs) <= figure.absolute ? 0 : Percent(ours, theirs);
}

}  // namespace

std::optional<std::vector<Twin>> CompareTwins(const TwinOptions& options, Diagnostics& diagnostics) {
  fs::path folder = options.folder;
  if (options.folder.empty()) {
    const auto data = hardware::DataFolder();
    if (!data) {
      diagnostics.Report(data.error());
      return std::nullopt;
    }
    folder = *data / "xla-twins";
  }
  const std::vector<Files> pairs = PairsIn(folder);
  if (pairs.empty()) {
    diagnostics.Error(kNoTwins, fmt::format("{} holds no twins", folder.string()));
    return std::nullopt;
  }
  driver::OptimiseOptions ours{.xla_flags = {"--xla_gpu_autotune_level=0"}};
  ours.xla_flags.insert(ours.xla_flags.end(), options.flags.begin(), options.flags.end());
  std::vector<Twin> twins;
  if (options.progress != nullptr) options.progress->Begin("twins", pairs.size());
  for (const Files& files : pairs) {
    const auto mine = FiguresOf(files.program, files.device, ours, diagnostics);
    const auto theirs = FiguresOf(files.optimised, files.device, {.mode = driver::OptimiseMode::kNone}, diagnostics);
    if (!mine || !theirs) return std::nullopt;
    twins.push_back({files.name, files.device, *mine, *theirs});
    if (options.progress != nullptr) options.progress->Done(twins.size());
  }
  return twins;
}

report::Table TwinTable(const std::vector<Twin>& twins) {
  using report::Align;
  report::Table table;
  table.columns = {{"program"},
                   {"device"},
                   {"kernels", Align::kRight},
                   {"XLA", Align::kRight},
                   {"%", Align::kRight},
                   {"bytes %", Align::kRight},
                   {"FLOPs %", Align::kRight},
                   {"collectives"},
                   {"step ms", Align::kRight},
                   {"XLA ms", Align::kRight},
                   {"step %", Align::kRight},
                   {"peak memory %", Align::kRight}};
  for (const Twin& twin : twins) {
    const TwinFigures& a = twin.ours;
    const TwinFigures& b = twin.theirs;
    const auto percent = [](double x, double y) { return fmt::format("{:.1f}", Percent(x, y)); };
    table.rows.push_back({twin.program, twin.device, fmt::format("{}", a.kernels), fmt::format("{}", b.kernels),
                          percent(a.kernels, b.kernels), percent(a.bytes, b.bytes), percent(a.flops, b.flops),
                          a.collectives == b.collectives ? "equal" : "differ",
                          fmt::format("{:.3f}", 1e3 * a.step_seconds), fmt::format("{:.3f}", 1e3 * b.step_seconds),
                          percent(a.step_seconds, b.step_seconds), percent(a.peak_bytes, b.peak_bytes)});
  }
  return table;
}

report::Table TwinSummary(const std::vector<Twin>& twins) {
  using report::Align;
  report::Table table;
  table.columns = {{"figure"},
                   {"programs", Align::kRight},
                   {"mean error %", Align::kRight},
                   {"within %", Align::kRight},
                   {"programs within", Align::kRight},
                   {"share %", Align::kRight},
                   {"largest error %", Align::kRight}};
  for (const Bounded& figure : kFigures) {
    double sum = 0;
    double largest = 0;
    size_t within = 0;
    for (const Twin& twin : twins) {
      const double error = std::abs(Difference(figure, twin));
      sum += error;
      largest = std::max(largest, error);
      within += error <= figure.near ? 1 : 0;
    }
    const auto count = static_cast<double>(twins.size());
    table.rows.push_back({figure.name, fmt::format("{}", twins.size()), fmt::format("{:.1f}", sum / count),
                          fmt::format("{:g}", figure.near), fmt::format("{}", within),
                          fmt::format("{:.0f}", 100 * static_cast<double>(within) / count),
                          fmt::format("{:.1f}", largest)});
  }
  return table;
}

}  // namespace hespas::validate
