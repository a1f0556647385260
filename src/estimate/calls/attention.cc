#include "estimate/calls/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "base/units.h"
#include "estimate/calls/call_text.h"
#include "ir/attributes/attribute.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingRound;

double Extent(const ir::Type& type, size_t d) {
  if (d >= type.dims.size() || type.dims[d] == ir::kDynamic) return 1;
  return static_cast<double>(std::max<int64_t>(type.dims[d], 1));
}

double Elements(const ir::Type& type) { return static_cast<double>(std::max<int64_t>(type.element_count(), 1)); }

bool IsFloat(const ir::Type& type) {
  return type.element.kind >= ir::ElementKind::kF64 && type.element.kind <= ir::ElementKind::kF6E3M2FN;
}

// Matmuls of a kernel: over the size of a query's head, and over that of a value's.
struct Matmuls {
  double query = 1, value = 1;
};

// cuDNN's and the like: numbers as strings or plain.
std::vector<double> ListIn(std::string_view text, std::string_view key) {
  std::vector<double> out;
  const size_t at = text.find(key);
  const size_t open = at == std::string_view::npos ? at : text.find('[', at);
  const size_t close = open == std::string_view::npos ? open : text.find(']', open);
  if (close == std::string_view::npos) return out;
  for (size_t i = open; i < close; ++i) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + close, value);
    if (error != std::errc()) continue;
    out.push_back(static_cast<double>(value));
    i = static_cast<size_t>(end - text.data());
  }
  return out;
}

// Share of the scores that a mask leaves: all keys up to the query's own place, no more than a window's length.
double ShareOfMask(const Attention& call) {
  if (!call.causal && call.window <= 0) return 1;
  const double queries = call.queries;
  const double keys = call.keys;
  const double reach = call.window > 0 ? std::min(call.window, keys) : keys;
  // Rows of 1, 2, ..., reach keys, then full ones.
  const double rising = std::min(queries, reach);
  return (rising * (rising + 1) / 2 + (queries - rising) * reach) / (queries * keys);
}

void CountScores(double scores, const Matmuls& matmuls, double query_size, double value_size, Attention& call) {
  call.flops = SaturatingRound(2 * scores * (matmuls.query * query_size + matmuls.value * value_size));
  call.exponentials = SaturatingRound(scores);
  call.head = SaturatingRound(query_size);
}

// Queries, keys and values come first; heads of queries may share those of keys (`intermediate_tensor_shape` counts
// the queries').
std::optional<Attention> FromCudnn(const ir::Module& module, ir::OpId op, std::string_view target) {
  const auto operands = module.operands(op);
  if (operands.size() < 3 || module.type(operands[0]).dims.size() < 3) return std::nullopt;
  const std::string config = CallConfiguration(module, op);
  const ir::Type& query = module.type(operands[0]);
  const ir::Type& key = module.type(operands[1]);
  const size_t last = query.dims.size() - 1;
  const double size = Extent(query, last);
  const size_t shape_at = config.find("intermediate_tensor_shape");
  std::vector<double> scores;
  if (shape_at != std::string::npos) scores = ListIn(std::string_view(config).substr(shape_at), "dimensions");
  double queries = Extent(query, 1);  // [batch, sequence, heads, size]
  double keys = Extent(key, 1);
  double all = Elements(query) / size * keys;
  if (scores.size() >= 2) {
    queries = std::max(1.0, scores[scores.size() - 2]);
    keys = std::max(1.0, scores.back());
    all = 1;
    for (const double extent : scores) all *= std::max(1.0, extent);
  }
  const bool backward = target.find("Backward") != std::string_view::npos;
  const Matmuls matmuls = backward ? Matmuls{3, 2} : Matmuls{1, 1};
  const ir::Type& value = module.type(operands[2]);
  const double value_size = backward || value.dims.empty() ? size : Extent(value, value.dims.size() - 1);
  Attention call{.batch = Extent(query, 0),
                 .queries = queries,
                 .keys = keys,
                 .window = NumberIn(config, "sliding_window_length").value_or(0),
                 .causal = WordIn(config, "mask_type").find("CAUSAL") != std::string::npos,
                 .backward = backward,
                 .f8 = query.element.bits == 8};
  call.heads = std::max(1.0, all / (call.batch * queries * keys));
  call.key_heads = std::max(1.0, Elements(key) / (call.batch * keys * Extent(key, key.dims.size() - 1)));
  CountScores(all * ShareOfMask(call), matmuls, size, value_size, call);
  return call;
}

// By the names of jax.experimental.pallas.ops and its users.
std::optional<Matmuls> MatmulsOf(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (!has("attention") && !has("mha") && !has("mqa") && !has("gqa")) return std::nullopt;
  if (has("preprocess")) return Matmuls{0, 0};
  if (has("dkv")) return Matmuls{2, 2};
  if (has("dq")) return Matmuls{2, 1};
  if (has("backward") || has("bwd")) return Matmuls{3, 2};
  return Matmuls{1, 1};
}

// Sizes of the blocks of scores, which splash attention's kernels have in their names.
double BlockOfName(std::string_view name, std::string_view key) {
  const size_t at = name.find(key);
  double size = 0;
  if (at != std::string_view::npos) std::from_chars(name.data() + at + key.size(), name.data() + name.size(), size);
  return size;
}

// Scores of one block over those of a head, by the kernel's name; 0 where it does not tell.
double ShareOfBlock(std::string_view name, double queries, double keys) {
  const bool dkv = name.find("_dkv") != std::string_view::npos && name.find("fwd") == std::string_view::npos;
  const bool dq = !dkv && name.find("_dq_") != std::string_view::npos && name.find("fwd") == std::string_view::npos;
  const std::string_view suffix = dkv ? "dkv_" : dq ? "dq_" : "";
  return BlockOfName(name, fmt::format("block_q_{}", suffix)) * BlockOfName(name, fmt::format("block_kv_{}", suffix)) /
         (queries * keys);
}

// Splash attention skips blocks of scores whose entry in its second 8-bit table, block_mask, is 0. Columns of the table
// that are 0 in every row are left out of it.
double ShareOfBlocks(const ir::Module& module, ir::OpId op, double queries, double keys) {
  size_t tables = 0;
  for (const ir::ValueId operand : module.operands(op)) {
    const ir::Type& type = module.type(operand);
    if (type.dims.size() != 3 || type.element.bits != 8 || IsFloat(type) || ++tables < 2) continue;
    const ir::OpId constant = module.defining_op(operand);
    const bool known = constant.valid() && module.kind(constant) == ir::OpKind::kConstant;
    const std::string_view* text = known ? module.attribute(constant, "value") : nullptr;
    const auto blocks = text == nullptr ? std::nullopt : ir::AsIntegers(*text);
    if (!blocks || blocks->empty()) return 1;
    const auto skipped = std::count(blocks->begin(), blocks->end(), 0);
    const double share = ShareOfBlock(KernelName(module, op), queries, keys);
    const double all = blocks->size() == 1 ? 1 : static_cast<double>(blocks->size());
    const double rows = Extent(type, 0);  // heads with masks of their own
    if (share > 0 && blocks->size() > 1) return std::min(1.0, (all - static_cast<double>(skipped)) / rows * share);
    return 1 - static_cast<double>(skipped) / all;
  }
  return 1;
}

// Splash attention's fused backward kernel is called as the one for keys and values, but makes the queries' gradient,
// too. Results of lower rank are scratch.
bool MakesThreeGradients(const ir::Module& module, ir::OpId op, size_t rank) {
  const auto gradient = [&](const ir::Type& type) { return IsFloat(type) && type.dims.size() >= rank; };
  size_t gradients = 0;
  for (const ir::ValueId result : module.results(op)) {
    const ir::Type& type = module.type(result);
    gradients += gradient(type);
    for (const ir::TypeId part : type.nested) gradients += gradient(module.types()[part]);
  }
  return gradients >= 3;
}

std::optional<Attention> FromPallas(const ir::Module& module, ir::OpId op, std::string_view target) {
  auto matmuls = MatmulsOf(KernelName(module, op));
  if (!matmuls) return std::nullopt;
  std::vector<const ir::Type*> arrays;
  for (const ir::ValueId operand : module.operands(op)) {
    const ir::Type& type = module.type(operand);
    if (IsFloat(type) && type.dims.size() >= 3) arrays.push_back(&type);
  }
  if (arrays.size() < 2) return std::nullopt;
  const ir::Type& query = *arrays[0];
  const ir::Type& key = *arrays[1];
  const size_t rank = key.dims.size();
  if (matmuls->query == 2 && matmuls->value == 2 && MakesThreeGradients(module, op, rank)) matmuls = Matmuls{3, 2};
  // On GPUs [batch, sequence, heads, size], when decoding [batch, heads, splits, part, size]; on TPUs sequence, size.
  const bool gpu = target.find("triton") != std::string_view::npos || target.find("gpu") != std::string_view::npos;
  double keys = Extent(key, gpu && rank == 4 ? 1 : rank - 2);
  if (rank > query.dims.size()) keys *= Extent(key, rank - 3);
  const double size = Extent(query, query.dims.size() - 1);
  const double queries = Extent(query, query.dims.size() - 2);
  const double scores = Elements(query) / size * keys * ShareOfBlocks(module, op, queries, keys);
  Attention call;
  CountScores(scores, *matmuls, size, Extent(key, rank - 1), call);
  return call;
}

}  // namespace

std::optional<Attention> AttentionOf(const ir::Module& module, ir::OpId op, std::string_view target) {
  if (target.find("cudnn$fmha") != std::string_view::npos) return FromCudnn(module, op, target);
  return FromPallas(module, op, target);
}

}  // namespace hespas::estimate
