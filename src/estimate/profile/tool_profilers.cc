// Measures blocks with programs that compile and time them: XLA's tools as the Python prototype drives them (spec
// python-prototype section 13), and IREE's.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "base/system/process.h"
#include "base/text/json.h"
#include "estimate/external/tool_call.h"
#include "estimate/external/tool_model.h"
#include "estimate/profile/file_identity.h"
#include "estimate/profile/profilers.h"

namespace hespas::estimate {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

Error Failed(std::string_view tool, std::string_view why, const std::string& output = {}) {
  const std::string said = output.empty() ? "" : fmt::format(": {}", Tail(output));
  return MakeError(kMeasurementFailed, fmt::format("{} {}{}", tool, why, said));
}

Result<std::string> FindProgramAt(const std::string& path, const std::string& name, std::string_view option) {
  const auto found = FindTool(path, name);
  if (found) return found;
  return MakeError(kNoTool, fmt::format("`{}` was not found", path.empty() ? name : path), {},
                   fmt::format("give its path by {}, or put it into PATH", option));
}

// What it printed, where it ended well.
Result<std::string> Output(const std::vector<std::string>& command, milliseconds limit) {
  const auto done = RunProcess(command, {}, limit);
  if (!done) return done.error();
  const std::string name = fs::path(command[0]).filename();
  if (const auto failure = done->Failure(limit)) return Failed(name, *failure, done->output);
  return done->output;
}

class XlaProfiler : public BlockProfiler {
 public:
  XlaProfiler(std::string translate, std::string runner, milliseconds limit)
      : translate_(std::move(translate)), runner_(std::move(runner)), limit_(limit) {}

  std::string_view name() const override { return "xla"; }
  std::string Fingerprint() const override {
    return fmt::format("xla|2|{}|{}|{}", FileIdentity(translate_), FileIdentity(runner_), HostProcessor());
  }

  Status Compile(const BlockProgram& program, size_t) override {
    const std::string hlo = HloOf(program);
    const auto done = Output({translate_, "--stablehlo-to-hlo-text", "-o", hlo, program.path}, limit_);
    if (!done) return done.error();
    std::error_code error;
    return fs::exists(hlo, error) ? Status() : Status(Failed("xla-translate", "wrote no file"));
  }

  // The mean of all runs but the longest.
  Result<Measured> Measure(const BlockProgram& program, size_t) override {
    const auto output = Output(
        {runner_, "--num_repeats=5", "--profile_execution=true", "--hlo_argument_mode=uninitialized", HloOf(program)},
        limit_);
    if (!output) return output.error();
    static const std::regex kDuration("Execution time,[^\n]*duration=([0-9.]+)");
    std::vector<double> times;
    for (std::sregex_iterator it(output->begin(), output->end(), kDuration), end; it != end; ++it)
      times.push_back(std::strtod((*it)[1].str().c_str(), nullptr));
    if (times.size() < 2) return Failed("hlo_runner_main", "printed fewer than two times", *output);
    times.erase(std::max_element(times.begin(), times.end()));
    double sum = 0;
    for (const double time : times) sum += time;
    constexpr double kNanosecond = 1e-9;
    return Measured{.seconds = sum / static_cast<double>(times.size()) * kNanosecond};
  }

 private:
  static std::string HloOf(const BlockProgram& program) {
    return fs::path(program.path).replace_extension(".hlo").string();
  }

  std::string translate_, runner_;
  milliseconds limit_;
};

// The mean among the aggregates of Google Benchmark's JSON, which warnings may precede.
std::optional<double> MeanSeconds(const std::string& output, const std::string& clock) {
  const size_t start = output.find('{'), end = output.rfind('}');
  if (start == std::string::npos || end == std::string::npos) return std::nullopt;
  const auto json = ReadJson(output.substr(start, end + 1 - start));
  if (!json.is_object() || !json.contains("benchmarks")) return std::nullopt;
  for (const auto& row : json["benchmarks"]) {
    if (!row.is_object() || row.value("aggregate_name", "") != "mean") continue;
    const std::string unit = row.value("time_unit", "ns");
    const double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9;
    const auto time = row.find(clock == "cpu" ? "cpu_time" : "real_time");
    if (time != row.end() && time->is_number()) return time->get<double>() * scale;
  }
  return std::nullopt;
}

// "2x3xf32=1", "i32=1". The tool reads no value for booleans but all their bytes: tensors of them are zeros, and a
// scalar, which needs one, is true.
std::string InputOption(const ProgramArgument& argument) {
  std::string text = "--input=";
  for (const int64_t extent : argument.shape) text += fmt::format("{}x", extent);
  if (argument.element == "i1") return text + (argument.shape.empty() ? "i1=01" : "i1");
  return text + argument.element + "=1";
}

class IreeProfiler : public BlockProfiler {
 public:
  IreeProfiler(std::string compiler, std::string runner, std::string version, const ProfileOptions& options,
               milliseconds limit)
      : compiler_(std::move(compiler)),
        runner_(std::move(runner)),
        version_(std::move(version)),
        options_(options),
        limit_(limit) {
    if (options.target_backend == "llvm-cpu" && options.compile_arguments.empty())
      options_.compile_arguments = {"--iree-llvmcpu-target-cpu=host"};
  }

  std::string_view name() const override { return "iree"; }
  std::string Fingerprint() const override {
    std::string text = fmt::format("iree|2|{}|{}|{}|{}|{}|{}", version_, FileIdentity(runner_), HostProcessor(),
                                   options_.target_backend, options_.target_device, options_.clock);
    for (const auto* words : {&options_.compile_arguments, &options_.run_arguments}) {
      for (const std::string& word : *words) text += "|" + word;
    }
    return text;
  }

  Status Compile(const BlockProgram& program, size_t) override {
    std::vector<std::string> command = {compiler_, program.path, "--iree-input-type=stablehlo",
                                        "--iree-hal-target-backends=" + options_.target_backend,
                                        "-o=" + ModuleOf(program)};
    command.insert(command.end(), options_.compile_arguments.begin(), options_.compile_arguments.end());
    const auto done = Output(command, limit_);
    return done ? Status() : Status(done.error());
  }

  Result<Measured> Measure(const BlockProgram& program, size_t) override {
    std::vector<std::string> command = {
        runner_,           "--device=" + options_.target_device,      "--module=" + ModuleOf(program),
        "--function=main", "--benchmark_report_aggregates_only=true", "--benchmark_format=json"};
    for (const ProgramArgument& argument : program.arguments) command.push_back(InputOption(argument));
    const auto& more = options_.run_arguments;
    command.insert(command.end(), more.begin(), more.end());
    const auto repeats = [](const std::string& word) { return word.starts_with("--benchmark_repetitions"); };
    if (std::none_of(more.begin(), more.end(), repeats)) command.push_back("--benchmark_repetitions=2");
    const auto output = Output(command, limit_);
    if (!output) return output.error();
    if (output->find("UNIMPLEMENTED;") != std::string::npos)
      return Failed("iree-benchmark-module", "lacks something", *output);
    const auto seconds = MeanSeconds(*output, options_.clock);
    if (!seconds) return Failed("iree-benchmark-module", "printed no time", *output);
    return Measured{.seconds = *seconds};
  }

 private:
  static std::string ModuleOf(const BlockProgram& program) {
    return fs::path(program.path).replace_extension(".vmfb").string();
  }

  std::string compiler_, runner_, version_;
  ProfileOptions options_;
  milliseconds limit_;
};

}  // namespace

MadeProfiler MakeXlaProfiler(const ProfileOptions& options, milliseconds limit) {
  const auto translate = FindProgramAt(options.compiler, "xla-translate", "--block-compiler");
  if (!translate) return translate.error();
  const auto runner = FindProgramAt(options.runner, "hlo_runner_main", "--block-runner");
  if (!runner) return runner.error();
  return std::unique_ptr<BlockProfiler>(std::make_unique<XlaProfiler>(*translate, *runner, limit));
}

MadeProfiler MakeIreeProfiler(const ProfileOptions& options, milliseconds limit) {
  const auto compiler = FindProgramAt(options.compiler, "iree-compile", "--block-compiler");
  if (!compiler) return compiler.error();
  const auto runner = FindProgramAt(options.runner, "iree-benchmark-module", "--block-runner");
  if (!runner) return runner.error();
  // The runner prints neither version nor help without a failure; the compiler does.
  const auto version = Output({*compiler, "--version"}, limit);
  if (!version) {
    return MakeError(kNoTool, fmt::format("`{}` does not run: {}", *compiler, version.error().message), {},
                     "give another by --block-compiler");
  }
  return std::unique_ptr<BlockProfiler>(std::make_unique<IreeProfiler>(*compiler, *runner, *version, options, limit));
}

}  // namespace hespas::estimate
