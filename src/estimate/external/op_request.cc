#include "estimate/external/op_request.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "estimate/calibrated/machine.h"
#include "estimate/calibrated/matmuls.h"
#include "estimate/cost.h"
#include "ir/attributes/op_attributes.h"

namespace hespas::estimate {
namespace {

using nlohmann::json;

constexpr size_t kLongestAttribute = 4096;  // constants stay here

json TypeJson(const ir::Type& type) {
  json shape = json::array();
  for (const int64_t size : type.dims) shape.push_back(size == ir::kDynamic ? 1 : size);
  return {{"shape", std::move(shape)}, {"dtype", ir::ElementText(type.element)}};
}

json AttributesJson(const ir::Module& module, ir::OpId op) {
  json attributes = json::object();
  for (const ir::Attribute& attribute : module.attributes(op)) {
    if (attribute.text.size() > kLongestAttribute) continue;
    attributes[std::string(module.name(attribute.name))] = std::string(attribute.text);
  }
  return attributes;
}

int64_t Extent(const ir::Type& type, int64_t dimension) {
  if (dimension < 0 || static_cast<size_t>(dimension) >= type.dims.size()) return 1;
  const int64_t size = type.dims[static_cast<size_t>(dimension)];
  return size == ir::kDynamic ? 1 : size;
}

// The two leading dimensions named, then the spatial ones in order.
json Permuted(const ir::Type& type, int64_t first, int64_t second, const ir::Dimensions& spatial) {
  json shape = {Extent(type, first), Extent(type, second)};
  for (const int64_t dimension : spatial) shape.push_back(Extent(type, dimension));
  return shape;
}

std::optional<json> ConvolutionJson(const ir::Module& module, ir::OpId op) {
  const auto dims = ir::ConvolutionDimensionsOf(module, op);
  const auto window = ir::WindowOf(module, op);
  if (!dims || !window || module.op(op).operand_count < 2) return std::nullopt;
  const ir::Type& output = module.type(module.result(op));
  if (!output.is_tensor()) return std::nullopt;
  json strides = json::array(), low = json::array(), high = json::array(), dilations = json::array(),
       bases = json::array();
  for (const ir::WindowDimension& dimension : *window) {
    strides.push_back(dimension.stride);
    low.push_back(dimension.padding_low);
    high.push_back(dimension.padding_high);
    dilations.push_back(dimension.window_dilation);
    bases.push_back(dimension.base_dilation);
  }
  low.insert(low.end(), high.begin(), high.end());
  return json{{"input", Permuted(module.type(module.operands(op)[0]), dims->input_batch, dims->input_feature,
                                 dims->input_spatial)},
              {"kernel", Permuted(module.type(module.operands(op)[1]), dims->kernel_output_feature,
                                  dims->kernel_input_feature, dims->kernel_spatial)},
              {"output", Permuted(output, dims->output_batch, dims->output_feature, dims->output_spatial)},
              {"strides", strides},
              {"padding", low},
              {"dilations", dilations},
              {"input_dilations", bases},
              {"groups", dims->feature_group_count},
              {"batch_groups", dims->batch_group_count}};
}

}  // namespace

json OpRequest(const ir::Module& module, ir::OpId op) {
  const std::string_view full = module.name(op);
  json request = {{"op", std::string(full.substr(full.find('.') + 1))},
                  {"operands", json::array()},
                  {"results", json::array()},
                  {"attributes", AttributesJson(module, op)}};
  for (const ir::ValueId operand : module.operands(op)) request["operands"].push_back(TypeJson(module.type(operand)));
  for (const ir::ValueId result : module.results(op)) request["results"].push_back(TypeJson(module.type(result)));
  const OpCost cost = CostOf(module, op);
  request["flops"] = cost.flops;
  request["bytes"] = cost.bytes;
  if (auto convolution = ConvolutionJson(module, op)) {
    request["convolution"] = *std::move(convolution);
  } else if (const auto matmul = calibrated::MatmulOf(module, op, calibrated::Machine{})) {
    request["matmul"] = {{"b", matmul->b}, {"m", matmul->m}, {"n", matmul->n}, {"k", matmul->k}};
  }
  return request;
}

}  // namespace hespas::estimate
