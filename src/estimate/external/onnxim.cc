// ONNXim: `Simulator --config NPU.json --models_list LIST.json` with ONNXIM_HOME naming the folder that holds
// models/op/op.onnx. Initialiser data are never read, so models carry only shapes.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "base/text/digest.h"
#include "base/text/json.h"
#include "estimate/external/tool_call.h"
#include "estimate/external/tool_model.h"

namespace hespas::estimate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kResult = "Total compute time ";

Result<double> CyclesOf(const std::string& output) {
  // Operations that it does not know take one cycle, with only a warning.
  if (output.find("returned dummy operator") != std::string::npos) {
    return MakeError(kSimulatorFailed, "onnxim knows no such operator");
  }
  const size_t at = output.find(kResult);
  int64_t cycles = 0;
  if (at != std::string::npos) {
    const std::string_view rest = std::string_view(output).substr(at + kResult.size());
    if (std::from_chars(rest.data(), rest.data() + rest.size(), cycles).ec == std::errc()) {
      return static_cast<double>(cycles);
    }
  }
  return MakeError(kSimulatorFailed, fmt::format("onnxim printed no result: {}", Tail(output)));
}

std::string ModelOf(const Layer& layer) {
  if (layer.convolution) return OnnxConv(*layer.convolution);
  return OnnxMatMul({layer.m, layer.k}, {layer.k, layer.n}, {layer.m, layer.n});
}

// The NPU's description with paths that no longer depend on the working directory.
Result<json> ReadConfig(const std::string& path) {
  if (path.empty()) return MakeError(kNoToolConfig, "onnxim needs --tool-config NPU.json");
  const auto text = ReadInput(path);
  if (!text) return text.error();
  json config = ReadJson(*text);
  const auto clock = config.is_object() ? config.find("core_freq") : config.end();
  if (!config.is_object() || clock == config.end() || !clock->is_number() || clock->get<double>() <= 0) {
    return MakeError(kNoToolConfig, "no `core_freq` (MHz) in the NPU's description", {.file = path});
  }
  for (const char* key : {"dram_config_path", "icnt_config_path"}) {
    if (!config.contains(key) || !config[key].is_string()) continue;
    std::error_code unused;
    config[key] = fs::absolute(config[key].get<std::string>(), unused).string();
  }
  return config;
}

class Onnxim : public OpModel {
 public:
  Onnxim(ToolOptions options, std::string program, std::string digest, json config)
      : options_(std::move(options)),
        program_(std::move(program)),
        digest_(std::move(digest)),
        config_(std::move(config)) {}

  std::string_view name() const override { return "onnxim"; }
  std::string Fingerprint() const override {
    return fmt::format("onnxim 1|{}|{}|{}", digest_, JsonText(config_), options_.asked_clock_hz.value_or(0));
  }

  Result<std::optional<OpTime>> Cost(const ir::Module& module, ir::OpId op) const override {
    const auto layer = LayerOf(module, op);
    if (!layer || (layer->convolution && !IsSquare(*layer->convolution))) return std::optional<OpTime>();
    const std::string model = ModelOf(*layer);
    const Result<double> cycles = calls_.Get(model, [&] { return Simulate(model); });
    if (!cycles) return cycles.error();
    const double clock_hz = options_.asked_clock_hz.value_or(config_["core_freq"].get<double>() * 1e6);
    const double seconds = static_cast<double>(layer->batch) * *cycles / clock_hz;
    return std::optional(OpTime{.seconds = seconds, .compute_seconds = seconds});
  }

 private:
  Result<double> Simulate(const std::string& model) const {
    const ScratchFolder scratch;
    const fs::path& home = scratch.path();
    std::error_code error;
    fs::create_directories(home / "models/op", error);
    const json list = {{"models", {{{"name", "op"}, {"batch_size", 1}}}}};
    for (const auto& [name, text] : {std::pair<const char*, std::string>{"models/op/op.onnx", model},
                                     {"npu.json", JsonText(config_, 2)},
                                     {"models_list.json", JsonText(list)}}) {
      if (Status written = WriteFileAtomically(home / name, text); !written) return written.error();
    }
    const auto run = RunProcess(
        {program_, "--config", (home / "npu.json").string(), "--models_list", (home / "models_list.json").string()},
        home.string(), options_.limit, {{"ONNXIM_HOME", home.string()}});
    if (!run) return run.error();
    if (const auto failure = run->Failure(options_.limit)) {
      return MakeError(kSimulatorFailed, fmt::format("onnxim {}: {}", *failure, Tail(run->output)));
    }
    return CyclesOf(run->output);
  }

  ToolOptions options_;
  std::string program_;
  std::string digest_;
  json config_;
  mutable OnceEach calls_;
};

}  // namespace

Result<std::unique_ptr<OpModel>> MakeOnnxim(const ToolOptions& options) {
  auto program = FindTool(options.path, "Simulator");
  if (!program) return program.error();
  auto config = ReadConfig(options.config);
  if (!config) return config.error();
  const auto content = ReadRaw(*program);
  if (!content) return content.error();
  return std::unique_ptr<OpModel>(
      std::make_unique<Onnxim>(options, *std::move(program), Sha256Hex(*content), *std::move(config)));
}

}  // namespace hespas::estimate
