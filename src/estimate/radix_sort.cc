#include "estimate/radix_sort.h"

#include <algorithm>
#include <cmath>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::estimate {
namespace {

using ir::OpKind;

// Lane instructions with which a thread block ranks a key in a pass: CUB's digits have to be counted, scanned and
// matched in shared memory by few warps. Fitted: the two sorts of rows among 41 programs on an H100 (four kernels).
constexpr double kRanking = 140;
constexpr double kSweepBits = 8;        // CUB tuning: RADIX_BITS of onesweep
constexpr double kSegmentBits = 6;      // and of a segmented sort's passes
constexpr int64_t kBitonicTile = 2048;  // elements of a thread block's tile in XLA's sort; an assumption

struct Keys {
  double rows = 1, row = 1;
  double key_bits = 32;
  double value_bytes = 0;
};

// Where CUB is the faster on Hopper, by the keys' width (XLA sort_rewriter.cc: IsCubSortFasterOnH100).
bool GoesToCub(const Keys& keys) {
  struct Limit {
    double rows, row;  // both are exceeded
  };
  constexpr Limit k16[] = {{12, 65536}, {14, 32768}, {16, 16384}, {18, 8192}, {33, 4096}, {66, 2048}};
  constexpr Limit k32[] = {{26, 131072}, {31, 65536}, {38, 32768}, {44, 16384}, {52, 8192}};
  constexpr Limit k64[] = {{55, 131072}, {70, 65536}, {92, 32768}, {354, 16384}};
  const auto beyond = [&](const auto& limits) {
    return std::any_of(std::begin(limits), std::end(limits),
                       [&](const Limit& limit) { return keys.rows > limit.rows && keys.row > limit.row; });
  };
  const bool one = keys.rows == 1;
  if (keys.key_bits == 8) return one || (keys.row > 1300 && (keys.rows > 8 || keys.row < 26000));
  if (keys.key_bits == 16) return one ? keys.row > 512 : beyond(k16);
  if (keys.key_bits == 32) return one ? keys.row > 22000 : beyond(k32);
  if (keys.key_bits == 64) return one ? keys.row > 131072 : beyond(k64);
  return false;
}

RadixSort Of(const Keys& keys) {
  const double elements = keys.rows * keys.row;
  const double key = keys.key_bits / 8;
  const double both = key + keys.value_bytes;
  if (keys.rows == 1) {
    const double passes = std::ceil(keys.key_bits / kSweepBits);
    return {.bytes = elements * (key + 2 * passes * both), .kernels = 2 + static_cast<int64_t>(passes)};
  }
  const double passes = std::ceil(keys.key_bits / kSegmentBits);
  return {.bytes = elements * passes * (key + 2 * both),
          .instructions = elements * passes * kRanking,
          .kernels = static_cast<int64_t>(passes)};
}

double Bits(const ir::Type& type) { return static_cast<double>(ir::ElementBits(type.element)); }

bool IsFloat(const ir::Type& type) {
  return type.element.kind >= ir::ElementKind::kF64 && type.element.kind <= ir::ElementKind::kF6E3M2FN;
}

// Two comparisons and more stand for NumPy's order of zeros and NaNs.
bool IsPlainOrder(const ir::Module& module, ir::OpId op) {
  int comparisons = 0;
  ir::WalkNested(module, op, [&](ir::OpId inner) { comparisons += module.kind(inner) == OpKind::kCompare; });
  return comparisons == 1;
}

std::optional<int64_t> SortedDimension(const ir::Module& module, ir::OpId op) {
  const std::string_view* text = module.attribute(op, "dimension");
  return text == nullptr ? std::nullopt : ir::AsInteger(*text);
}

// Along the last dimension: XLA transposes others.
std::optional<Keys> KeysOfSort(const ir::Module& module, ir::OpId op) {
  const size_t arrays = module.op(op).operand_count;
  if (arrays == 0 || arrays > 2) return std::nullopt;
  const ir::Type& key = module.type(module.operands(op)[0]);
  const int64_t along = SortedDimension(module, op).value_or(static_cast<int64_t>(key.dims.size()) - 1);
  if (along < 0 || static_cast<size_t>(along) >= key.dims.size() || key.element_count() <= 0) return std::nullopt;
  Keys keys{.row = static_cast<double>(std::max<int64_t>(1, key.dims[static_cast<size_t>(along)])),
            .key_bits = Bits(key)};
  keys.rows = static_cast<double>(key.element_count()) / keys.row;
  if (arrays == 2) keys.value_bytes = Bits(module.type(module.operands(op)[1])) / 8;
  // Keys that were made of the floats come first; the floats follow, packed with what goes with them.
  if (IsFloat(key) && !IsPlainOrder(module, op)) keys.value_bytes += keys.key_bits / 8;
  return keys;
}

// (keys, values, workspace) of `batch_size` rows.
std::optional<Keys> KeysOfCall(const ir::Module& module, ir::OpId op) {
  const std::string target = ir::CallTarget(module, op);
  const bool cub = target.find("cub_sort") != std::string::npos || target.find("__cub$") != std::string::npos;
  if (!cub || module.op(op).operand_count == 0) return std::nullopt;
  const ir::Type& key = module.type(module.operands(op)[0]);
  if (key.element_count() <= 0) return std::nullopt;
  const size_t rank = key.dims.size();
  Keys keys{.row = rank == 0 ? 1 : static_cast<double>(std::max<int64_t>(1, key.dims[rank - 1])),
            .key_bits = Bits(key)};
  keys.rows = static_cast<double>(key.element_count()) / keys.row;
  if (module.op(op).operand_count > 1) keys.value_bytes = Bits(module.type(module.operands(op)[1])) / 8;
  return keys;
}

}  // namespace

std::optional<RadixSort> RadixSortOf(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) == OpKind::kCustomCall) {
    const auto keys = KeysOfCall(module, op);
    return keys ? std::optional(Of(*keys)) : std::nullopt;
  }
  if (module.kind(op) != OpKind::kSort) return std::nullopt;
  const auto keys = KeysOfSort(module, op);
  return keys && GoesToCub(*keys) ? std::optional(Of(*keys)) : std::nullopt;
}

int64_t BitonicKernels(const ir::Module& module, ir::OpId op) {
  if (module.op(op).operand_count == 0) return 1;
  const auto keys = KeysOfSort(module, op);
  const double row = keys ? keys->row : static_cast<double>(module.type(module.operands(op)[0]).element_count());
  const auto doublings =
      static_cast<int64_t>(std::ceil(std::log2(std::max(1.0, row / static_cast<double>(kBitonicTile)))));
  // Each stage beyond a tile: its exchanges between tiles one by one, those within a tile in one kernel.
  return 1 + doublings * (doublings + 1) / 2 + doublings;
}

}  // namespace hespas::estimate
