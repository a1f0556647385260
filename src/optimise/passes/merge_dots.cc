// Dots of one shared operand are put side by side (docs/spec/xla-gpu.md, section 8).
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/units.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Of our search, not XLA's: values that are looked at for one pair, and partners that are tried for one dot.
constexpr size_t kLongestSearch = 1000;
constexpr size_t kMostPartners = 100;
constexpr size_t kSearchOfDot = 8000;  // values for all partners of one dot

// The one dimension that is neither batch nor contracted; nothing where there are more.
std::optional<size_t> FreeDimension(size_t rank, const Dimensions& batch, const Dimensions& contract) {
  std::optional<size_t> free;
  for (size_t i = 0; i < rank; ++i) {
    const auto at = static_cast<int64_t>(i);
    if (std::count(batch.begin(), batch.end(), at) + std::count(contract.begin(), contract.end(), at) > 0) continue;
    if (free) return std::nullopt;
    free = i;
  }
  return free;
}

// A dot as one that shares an operand sees it.
struct Dot {
  NodeId id;
  ir::DotDimensions dims;
  size_t side = 0;  // of the shared operand

  const Dimensions& contract(bool shared) const {
    return (side == 0) == shared ? dims.lhs_contracting : dims.rhs_contracting;
  }
  const Dimensions& batch(bool shared) const { return (side == 0) == shared ? dims.lhs_batching : dims.rhs_batching; }
};

class Merger {
 public:
  Merger(Dataflow& flow, int64_t limit) : flow_(flow), limit_(limit), position_(flow.node_count(), 0) {
    for (size_t i = 0; i < flow.order().size(); ++i) position_[flow.order()[i].index()] = i + 1;
  }

  // One round; whether anything was merged.
  bool Run() {
    std::map<std::pair<size_t, uint32_t>, std::vector<Dot>> classes;  // by place of the shared operand
    for (const NodeId id : flow_.order()) {
      const Node& dot = flow_.node(id);
      if (dot.kind != OpKind::kDotGeneral || dot.operands.size() != 2) continue;
      const auto dims = CanonicalDimensions(flow_, dot);
      if (!dims) continue;
      for (const size_t side : {size_t{0}, size_t{1}}) {
        if (side == 1 && dot.operands[1] == dot.operands[0]) continue;
        const ValueId shared = dot.operands[side];
        classes[{PositionOf(flow_.producer(shared)), shared.value}].push_back({id, *dims, side});
      }
    }
    for (const auto& [key, dots] : classes) MergeClass(ValueId(key.second), dots);
    flow_.Normalise();
    return !merged_.empty();
  }

 private:
  // Parameters come before all nodes, what this round made after them.
  size_t PositionOf(NodeId id) const {
    if (!id.valid()) return 0;
    return id.index() < position_.size() ? position_[id.index()] : SIZE_MAX;
  }

  // Each dot takes in the later ones that it can, one after the other.
  void MergeClass(ValueId shared, const std::vector<Dot>& dots) {
    for (size_t i = 0; i < dots.size(); ++i) {
      if (merged_.count(dots[i].id) > 0) continue;
      std::vector<Dot> group{dots[i]};
      int64_t size = SizeOf(dots[i].id);
      searched_ = 0;
      for (size_t j = i + 1; j < std::min(dots.size(), i + 1 + kMostPartners) && searched_ < kSearchOfDot; ++j) {
        const Dot& other = dots[j];
        if (merged_.count(other.id) > 0 || (size > limit_ && SizeOf(other.id) > limit_)) continue;
        if (!HaveEqualForm(group[0], other) || !AreIndependent(group, other)) continue;
        size += SizeOf(other.id) - flow_.ByteSize(shared);
        group.push_back(other);
      }
      if (group.size() > 1) Merge(group);
    }
  }

  bool AreIndependent(const std::vector<Dot>& group, const Dot& other) {
    return std::all_of(group.begin(), group.end(),
                       [&](const Dot& dot) { return !DependsOn(other, dot.id) && !DependsOn(dot, other.id); });
  }

  int64_t SizeOf(NodeId id) const {
    const Node& dot = flow_.node(id);
    return flow_.ByteSize(dot.operands[0]) + flow_.ByteSize(dot.operands[1]) + flow_.ByteSize(dot.first_result);
  }

  ValueId OtherOf(const Dot& dot) const { return flow_.node(dot.id).operands[1 - dot.side]; }

  // Types, precision and dimensions are equal. Without batches the other operand may lie transposed, and the shared one
  // be on the other side, as XLA's DotDecomposer puts them in one order.
  bool HaveEqualForm(const Dot& a, const Dot& b) const {
    const auto element = [&](ValueId value) { return flow_.type(value).element; };
    if (element(OtherOf(a)) != element(OtherOf(b)) || element(flow_.result(a.id)) != element(flow_.result(b.id)))
      return false;
    if (PrecisionText(flow_.node(a.id)) != PrecisionText(flow_.node(b.id))) return false;
    if (a.contract(true) != b.contract(true) || a.batch(true) != b.batch(true) || a.batch(false) != b.batch(false))
      return false;
    if (a.contract(false).size() != 1 || b.contract(false).size() != 1) return false;
    if (a.batch(false).empty()) return true;
    return a.side == b.side && a.contract(false) == b.contract(false) && FreeOf(a) && FreeOf(b);
  }

  std::optional<size_t> FreeOf(const Dot& dot) const {
    return FreeDimension(flow_.type(OtherOf(dot)).dims.size(), dot.batch(false), dot.contract(false));
  }

  std::string PrecisionText(const Node& dot) const {
    std::string text;
    for (const ir::Attribute& attribute : PrecisionAttributes(flow_, dot)) text += attribute.text;
    return text;
  }

  // Whether what the dot does not share needs the other dot's result; gives up (yes) where the search grows large.
  bool DependsOn(const Dot& dot, NodeId other) {
    const size_t earliest = PositionOf(other);
    std::vector<ValueId> work{OtherOf(dot)};
    std::unordered_set<NodeId> seen;
    while (!work.empty()) {
      const NodeId id = flow_.producer(flow_.Resolve(work.back()));
      work.pop_back();
      ++searched_;
      if (!id.valid() || PositionOf(id) < earliest || !seen.insert(id).second) continue;
      if (id == other || seen.size() > kLongestSearch) return true;
      for (const ValueId value : flow_.node(id).operands) work.push_back(value);
    }
    return false;
  }

  // The operand that is not shared, with one free dimension, contracted as `contract` says.
  ValueId Part(const Dot& dot, int64_t contract) {
    const ValueId value = OtherOf(dot);
    const Dimensions dims = flow_.type(value).dims;
    const int64_t contracted = dot.contract(false)[0];
    if (FreeOf(dot)) return contracted == contract ? value : Transpose(flow_, value, {1, 0});
    Dimensions order;
    int64_t free = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (static_cast<int64_t>(i) == contracted) continue;
      order.push_back(static_cast<int64_t>(i));
      free = internal::SaturatingMultiply(free, dims[i]);
    }
    order.insert(contract == 0 ? order.begin() : order.end(), contracted);
    Dimensions matrix{free, dims[static_cast<size_t>(contracted)]};
    if (contract == 0) std::swap(matrix[0], matrix[1]);
    return Reshape(flow_, Transpose(flow_, value, order), std::move(matrix));
  }

  // The result's dimensions: batches, then the shared operand's free ones, with the other's at `grown`.
  Dimensions ResultOf(const Dot& dot, int64_t free, size_t& grown) const {
    const Dimensions& shape = flow_.type(flow_.node(dot.id).operands[dot.side]).dims;
    Dimensions out;
    for (const int64_t i : dot.batch(true)) out.push_back(shape[static_cast<size_t>(i)]);
    grown = out.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const auto is = [&](const Dimensions& role) { return std::find(role.begin(), role.end(), at) != role.end(); };
      if (!is(dot.contract(true)) && !is(dot.batch(true))) out.push_back(shape[i]);
    }
    if (dot.side == 0) grown = out.size();
    out.insert(out.begin() + static_cast<ptrdiff_t>(grown), free);
    return out;
  }

  // All have the first dot's form: several free dimensions are one, and the shared operand may change sides.
  void Merge(const std::vector<Dot>& group) {
    const Dot& a = group[0];
    const int64_t contracted = FreeOf(a) ? a.contract(false)[0] : static_cast<int64_t>(a.side);
    std::vector<ValueId> parts;
    parts.reserve(group.size());
    for (const Dot& dot : group) parts.push_back(Part(dot, contracted));
    const size_t free = *FreeDimension(flow_.type(parts[0]).dims.size(), a.batch(false), {contracted});
    const ValueId together = Concatenate(flow_, parts, free);
    ir::DotDimensions dims = a.dims;
    (a.side == 0 ? dims.rhs_contracting : dims.lhs_contracting) = {contracted};
    size_t grown = 0;
    const Dimensions out = ResultOf(a, flow_.type(together).dims[free], grown);

    Node made = flow_.Copy(a.id);
    made.operands[1 - a.side] = together;
    made.attributes = PrecisionAttributes(flow_, flow_.node(a.id));
    made.attributes.push_back(MakeAttribute(flow_.source(), "dot_dimension_numbers", ir::DotDimensionsText(dims)));
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(flow_.result(a.id)), out)};
    const ValueId whole = flow_.result(flow_.Add(std::move(made), types));
    int64_t start = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      const int64_t size = flow_.type(parts[i]).dims[free];
      ValueId slice = SliceOf(flow_, whole, grown, start, start + size);
      if (group[i].side != a.side) slice = WithFreeOnOtherEnd(slice, grown == 0);
      const ValueId result = flow_.result(group[i].id);
      flow_.Replace(result, ReshapeTo(flow_, slice, flow_.type_id(result)));
      start += size;
      merged_.insert(group[i].id);
    }
  }

  // The first dimension becomes the last, or the last the first.
  ValueId WithFreeOnOtherEnd(ValueId value, bool from_first) {
    Dimensions order(flow_.type(value).dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), from_first ? order.begin() + 1 : order.end() - 1, order.end());
    return Transpose(flow_, value, order);
  }

  Dataflow& flow_;
  int64_t limit_;
  size_t searched_ = 0;           // values, for the dot at hand
  std::vector<size_t> position_;  // by node, from 1 on
  std::unordered_set<NodeId> merged_;
};

}  // namespace

void MergeDots(Dataflow& flow, PassContext& context) {
  constexpr int kMostRounds = 8;  // one merges nearly all
  for (int round = 0; round < kMostRounds && Merger(flow, context.dot_merge_bytes).Run(); ++round) {
  }
}

}  // namespace hespas::optimise
