#include "estimate/external/onnx_model.h"

#include <protozero/pbf_writer.hpp>
#include <utility>

namespace hespas::estimate {
namespace {

using protozero::pbf_writer;

// Field numbers and codes of onnx.proto.
constexpr int64_t kIrVersion = 8, kOperatorSet = 13;
constexpr int32_t kFloat = 1, kIntAttribute = 2, kIntsAttribute = 7;
constexpr std::string_view kInput = "x", kWeights = "w", kOutput = "y";

std::string ValueInfo(std::string_view name, const Shape& shape) {
  std::string dimensions;
  pbf_writer dims(dimensions);
  for (const int64_t size : shape) {
    pbf_writer dimension(dims, 1);
    dimension.add_int64(1, size);
  }
  std::string info;
  pbf_writer value(info);
  value.add_string(1, name.data(), name.size());
  pbf_writer type(value, 2);
  pbf_writer tensor(type, 1);
  tensor.add_int32(1, kFloat);
  tensor.add_message(2, dimensions);
  return info;
}

std::string Initialiser(const Shape& shape) {
  std::string text;
  pbf_writer tensor(text);
  for (const int64_t size : shape) tensor.add_int64(1, size);
  tensor.add_int32(2, kFloat);
  tensor.add_string(8, kWeights.data(), kWeights.size());
  return text;
}

void AddIntegers(pbf_writer& node, std::string_view name, const std::vector<int64_t>& values) {
  pbf_writer attribute(node, 5);
  attribute.add_string(1, name.data(), name.size());
  for (const int64_t value : values) attribute.add_int64(8, value);
  attribute.add_int32(20, kIntsAttribute);
}

std::string Node(std::string_view op_type) {
  std::string text;
  pbf_writer node(text);
  node.add_string(1, kInput.data(), kInput.size());
  node.add_string(1, kWeights.data(), kWeights.size());
  node.add_string(2, kOutput.data(), kOutput.size());
  node.add_string(3, "op");
  node.add_string(4, op_type.data(), op_type.size());
  return text;
}

std::string Model(const std::string& node, const Shape& input, const Shape& weights, const Shape& output) {
  std::string text;
  pbf_writer model(text);
  model.add_int64(1, kIrVersion);
  model.add_string(2, "hespas");
  {
    pbf_writer graph(model, 7);
    graph.add_message(1, node);
    graph.add_string(2, "op");
    graph.add_message(5, Initialiser(weights));
    graph.add_message(11, ValueInfo(kInput, input));
    graph.add_message(12, ValueInfo(kOutput, output));
  }
  pbf_writer operators(model, 8);
  operators.add_string(1, "");
  operators.add_int64(2, kOperatorSet);
  return text;
}

}  // namespace

std::string OnnxMatMul(const Shape& lhs, const Shape& rhs, const Shape& result) {
  return Model(Node("MatMul"), lhs, rhs, result);
}

std::string OnnxConv(const OnnxConvolution& convolution) {
  std::string node = Node("Conv");
  {
    pbf_writer more(node);  // appends to the message
    AddIntegers(more, "kernel_shape", {convolution.kernel.begin() + 2, convolution.kernel.end()});
    AddIntegers(more, "strides", convolution.strides);
    AddIntegers(more, "pads", convolution.pads);
    AddIntegers(more, "dilations", convolution.dilations);
    pbf_writer group(more, 5);
    group.add_string(1, "group");
    group.add_int64(3, convolution.groups);
    group.add_int32(20, kIntAttribute);
  }
  return Model(node, convolution.input, convolution.kernel, convolution.output);
}

}  // namespace hespas::estimate
