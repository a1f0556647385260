#include "estimate/external/tool_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/system/process.h"
#include "estimate/external/op_request.h"
#include "estimate/external/tool_model.h"

namespace hespas::estimate {
namespace {

template <class T>
bool AllEqual(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<T>()) == values.end();
}

}  // namespace

std::optional<Layer> LayerOf(const ir::Module& module, ir::OpId op) {
  const nlohmann::json request = OpRequest(module, op);
  Layer layer;
  if (const auto found = request.find("matmul"); found != request.end()) {
    const auto extent = [&](const char* name) { return std::llround(found->at(name).get<double>()); };
    layer.batch = extent("b");
    layer.m = extent("m");
    layer.n = extent("n");
    layer.k = extent("k");
    return layer;
  }
  const auto found = request.find("convolution");
  if (found == request.end() || found->at("batch_groups") != 1) return std::nullopt;
  const std::vector<int64_t> dilations = found->at("input_dilations");
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t factor) { return factor != 1; })) return std::nullopt;
  layer.convolution = OnnxConvolution{.input = found->at("input"),
                                      .kernel = found->at("kernel"),
                                      .output = found->at("output"),
                                      .strides = found->at("strides"),
                                      .pads = found->at("padding"),
                                      .dilations = found->at("dilations"),
                                      .groups = found->at("groups")};
  return layer;
}

bool IsSquare(const OnnxConvolution& convolution) {
  const bool two = convolution.input.size() == 4;
  return two && convolution.input[2] == convolution.input[3] && convolution.kernel[2] == convolution.kernel[3] &&
         AllEqual(convolution.strides) && AllEqual(convolution.pads) && AllEqual(convolution.dilations) &&
         convolution.dilations[0] == 1 && convolution.groups == 1;
}

Result<std::string> FindTool(const std::string& path, const std::string& name) {
  std::error_code unused;
  if (path.find('/') != std::string::npos) {
    if (std::filesystem::exists(path, unused)) return std::filesystem::absolute(path, unused).string();
    return MakeError(kNoTool, fmt::format("there is no `{}`", path), {}, "check --tool-path");
  }
  const std::string asked = path.empty() ? name : path;
  const std::string found = FindProgram({asked});
  if (!found.empty()) return std::filesystem::absolute(found, unused).string();
  return MakeError(
      kNoTool, fmt::format("`{}` is not in PATH", asked), {},
      "give its path by --tool-path, or choose an estimator that is built in: systolic, scalesim, calibrated");
}

std::string Tail(const std::string& output, size_t most) {
  std::string tail = output.substr(output.size() - std::min(output.size(), most));
  std::replace_if(
      tail.begin(), tail.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
  return tail.substr(std::min(tail.find_first_not_of(' '), tail.size()));
}

Result<double> OnceEach::Get(const std::string& call, const std::function<Result<double>()>& make) {
  const std::lock_guard lock(mutex_);
  auto found = answers_.find(call);
  if (found == answers_.end()) found = answers_.emplace(call, make()).first;
  return found->second;
}

}  // namespace hespas::estimate
