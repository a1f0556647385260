// COCOSSim's perf_model: `perf_model -c CHIPS -sa_sz 128 -vu_sz 1024 -ws 1 -f GHZ -i layers.txt -o out.txt`, run in a
// folder named build beside a `dramsim3` with its memory descriptions. The last progress line of its output holds the
// cycles.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "base/text/digest.h"
#include "estimate/external/tool_call.h"
#include "estimate/external/tool_model.h"

namespace hespas::estimate {
namespace {

namespace fs = std::filesystem;

// The number behind `key`, from `at` on.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key, size_t at) {
  const size_t found = text.find(key, at);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(found + key.size());
  int64_t value = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// Cycles of a run that finished all its jobs.
Result<double> CyclesOf(const std::string& output) {
  const size_t last = output.rfind("Cycles: ");
  const auto cycles = last == std::string::npos ? std::nullopt : NumberAfter(output, "Cycles: ", last);
  const auto done = cycles ? NumberAfter(output, "Jobs finished: ", last) : std::nullopt;
  const auto jobs = done ? NumberAfter(output, fmt::format("Jobs finished: {}/", *done), last) : std::nullopt;
  if (!jobs) return MakeError(kSimulatorFailed, fmt::format("cocossim printed no result: {}", Tail(output)));
  if (*done != *jobs) {
    return MakeError(kSimulatorFailed, fmt::format("cocossim finished {} of {} jobs", *done, *jobs));
  }
  return static_cast<double>(*cycles);
}

std::string LayerLine(const Layer& layer) {
  if (!layer.convolution) return fmt::format("Matmul {} {} {}\n", layer.m, layer.k, layer.n);
  const OnnxConvolution& c = *layer.convolution;
  return fmt::format("Conv {} {} {} {} {} {} {} {}\n", c.input[0], c.input[1], c.input[2], c.input[3], c.kernel[0],
                     c.kernel[2], c.strides[0], c.pads[0]);
}

class CocosSim : public OpModel {
 public:
  CocosSim(ToolOptions options, std::string program, std::string digest)
      : options_(std::move(options)), program_(std::move(program)), digest_(std::move(digest)) {}

  std::string_view name() const override { return "cocossim"; }
  std::string Fingerprint() const override {
    return fmt::format("cocossim 1|{}|{}|{}", digest_, options_.clock_hz, options_.chips);
  }

  Result<std::optional<OpTime>> Cost(const ir::Module& module, ir::OpId op) const override {
    const auto layer = LayerOf(module, op);
    if (!layer || (layer->convolution && !IsSquare(*layer->convolution))) return std::optional<OpTime>();
    const std::string line = LayerLine(*layer);
    const Result<double> cycles = calls_.Get(line, [&] { return Simulate(line); });
    if (!cycles) return cycles.error();
    const double seconds = static_cast<double>(layer->batch) * *cycles / options_.clock_hz;
    return std::optional(OpTime{.seconds = seconds, .compute_seconds = seconds});
  }

 private:
  Result<double> Simulate(const std::string& line) const {
    const ScratchFolder scratch;
    const fs::path folder = scratch.path() / "build";
    std::error_code error;
    fs::create_directory(folder, error);
    fs::create_symlink(fs::path(program_).parent_path().parent_path() / "dramsim3", scratch.path() / "dramsim3", error);
    if (Status written = WriteFileAtomically(folder / "layers.txt", line); !written) return written.error();
    const auto run =
        RunProcess({program_, "-c", std::to_string(options_.chips), "-sa_sz", "128", "-vu_sz", "1024", "-ws", "1", "-f",
                    fmt::format("{:g}", options_.clock_hz / 1e9), "-i", "layers.txt", "-o", "out.txt"},
                   folder.string(), options_.limit);
    if (!run) return run.error();
    if (const auto failure = run->Failure(options_.limit)) {
      return MakeError(kSimulatorFailed, fmt::format("cocossim {}: {}", *failure, Tail(run->output)));
    }
    return CyclesOf(run->output);
  }

  ToolOptions options_;
  std::string program_;
  std::string digest_;
  mutable OnceEach calls_;
};

}  // namespace

Result<std::unique_ptr<OpModel>> MakeCocosSim(const ToolOptions& options) {
  auto program = FindTool(options.path, "perf_model");
  if (!program) return program.error();
  const auto content = ReadRaw(*program);
  if (!content) return content.error();
  return std::unique_ptr<OpModel>(std::make_unique<CocosSim>(options, *std::move(program), Sha256Hex(*content)));
}

}  // namespace hespas::estimate
