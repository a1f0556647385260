#include "report/step/throughput.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/attributes/integer.h"

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

// The part of a shard that is a device's own: `{devices=[4,1,2]<=[8] last_tile_dim_replicate}` leaves a half.
double OwnShare(const ir::Module& module, uint32_t argument) {
  const std::string_view* attributes = module.attribute(module.main(), "arg_attrs");
  if (attributes == nullptr) return 1;
  const auto items = ir::ListItems(*attributes);
  if (argument >= items.size()) return 1;
  const auto sharding = ir::FindEntry(ir::Entries(items[argument]), "mhlo.sharding");
  if (!sharding || sharding->find("last_tile_dim_replicate") == std::string_view::npos) return 1;
  const size_t open = sharding->find('[');
  const auto tiles = ir::AsIntegers(sharding->substr(open, sharding->find(']') - open + 1));
  return tiles && !tiles->empty() && tiles->back() > 0 ? 1.0 / static_cast<double>(tiles->back()) : 1;
}

}  // namespace

std::optional<result::Throughput> ThroughputOf(const ir::Module& module) {
  if (!module.main().valid()) return std::nullopt;
  const ir::BlockId body = module.body(module.main());
  if (!body.valid()) return std::nullopt;
  struct Best {
    int64_t count = 0;
    uint32_t argument = 0;
  };
  Best images;
  Best tokens;
  uint32_t number = 0;
  for (const ir::ValueId value : module.arguments(body)) {
    const ir::Type& type = module.type(value);
    if (Images(type) > images.count) images = {Images(type), number};
    if (Tokens(type) > tokens.count) tokens = {Tokens(type), number};
    ++number;
  }
  // Few weights look like a table of tokens, but a shard of one may well look like images.
  const Best& best = tokens.count > 0 ? tokens : images;
  if (best.count == 0) return std::nullopt;
  const ir::TypeId type = module.type_id(module.arguments(body)[best.argument]);
  return result::Throughput{.unit = tokens.count > 0 ? "tokens" : "samples",
                            .per_step = static_cast<double>(best.count) * OwnShare(module, best.argument),
                            .argument = fmt::format("argument {}, {}", best.argument, module.types().Text(type))};
}

}  // namespace hespas::report
