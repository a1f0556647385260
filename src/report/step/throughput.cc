#include "report/step/throughput.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/attributes/integer.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/shardings.h"

namespace hespas::report {
namespace {

constexpr int64_t kSmallestImage = 16;
constexpr int64_t kMostChannels = 4;
constexpr int64_t kShortestText = 8;

// Numbers of words; smaller integers are truth values and packed numbers.
bool CountsWords(const ir::Element& element) { return ir::IsInteger(element) && element.bits >= 16; }

// Samples of [..., height, width, channels]; 0 for anything else.
int64_t Images(const ir::Type& type) {
  const auto& d = type.dims;
  if (!type.is_tensor() || d.size() < 4 || d.back() > kMostChannels) return 0;
  if (d[d.size() - 2] < kSmallestImage || d[d.size() - 3] < kSmallestImage) return 0;
  int64_t samples = 1;
  for (size_t i = 0; i + 3 < d.size(); ++i) samples *= std::max<int64_t>(d[i], 1);
  return samples;
}

// Tokens of an integer matrix [batch, length]; 0 for anything else.
int64_t Tokens(const ir::Type& type) {
  if (!type.is_tensor() || type.dims.size() != 2 || !CountsWords(type.element) || type.dims[1] < kShortestText)
    return 0;
  return type.element_count();
}

struct Argument {
  int64_t count = 0;
  uint32_t number = 0;
};

// What the program works through, and on which argument that is read.
struct Data {
  const char* unit = "tokens";
  Argument argument;
};

std::optional<Data> DataOf(const ir::Module& module, ir::BlockId body) {
  Argument images;
  Argument tokens;
  uint32_t number = 0;
  for (const ir::ValueId value : module.arguments(body)) {
    const ir::Type& type = module.type(value);
    if (Images(type) > images.count) images = {Images(type), number};
    if (Tokens(type) > tokens.count) tokens = {Tokens(type), number};
    ++number;
  }
  // Few weights look like a table of tokens, but a shard of one may well look like images. A number for each image is
  // its label.
  const bool labels = tokens.count == images.count;
  if (tokens.count > 0 && !labels) return Data{"tokens", tokens};
  if (images.count > 0) return Data{"samples", images};
  return std::nullopt;
}

std::string_view AttributesOf(const ir::Module& module, uint32_t argument) {
  const std::string_view* attributes = module.attribute(module.main(), "arg_attrs");
  if (attributes == nullptr) return {};
  const auto items = ir::ListItems(*attributes);
  return argument < items.size() ? items[argument] : std::string_view();
}

// The global count, as a multiple of one device's.
std::optional<double> DistinctParts(const ir::Module& module, const Data& data, int64_t devices) {
  const std::string_view attributes = AttributesOf(module, data.argument.number);
  const auto replicas =
      std::max<int64_t>(1, ir::IntegerAttribute(module, module.root(), "mhlo.num_replicas").value_or(1));
  const int64_t partitions = std::max<int64_t>(1, devices / replicas);
  const bool same = ir::FindEntry(ir::Entries(attributes), "mhlo.is_same_data_across_replicas").has_value();
  const double of_replicas = same ? 1 : static_cast<double>(replicas);
  const auto tiling = ir::TilingOfAttributes(attributes, ir::MeshAxesOf(module));
  if (!tiling) return partitions == 1 ? std::optional(of_replicas) : std::nullopt;
  // Tiles behind the argument's dimensions are groups of devices that hold the same.
  const ir::Type& type = module.type(module.arguments(module.body(module.main()))[data.argument.number]);
  double parts = 1;
  for (size_t d = 0; d < std::min(tiling->parts.size(), type.dims.size()); ++d) {
    parts *= static_cast<double>(tiling->parts[d]);
  }
  return std::min(parts, static_cast<double>(partitions)) * of_replicas;
}

}  // namespace

std::optional<result::Throughput> ThroughputOf(const ir::Module& module, int64_t devices) {
  if (!module.main().valid()) return std::nullopt;
  const ir::BlockId body = module.body(module.main());
  if (!body.valid()) return std::nullopt;
  const auto data = DataOf(module, body);
  if (!data) return std::nullopt;
  const int64_t own = ir::DevicesOf(module);
  const int64_t all = own > 1 ? own : std::max<int64_t>(1, devices);
  const auto parts = DistinctParts(module, *data, all);
  if (!parts) return std::nullopt;
  const ir::TypeId type = module.type_id(module.arguments(body)[data->argument.number]);
  return result::Throughput{
      .unit = data->unit,
      .per_step = static_cast<double>(data->argument.count) * *parts / static_cast<double>(all),
      .argument = fmt::format("argument {}, {}", data->argument.number, module.types().Text(type))};
}

}  // namespace hespas::report
