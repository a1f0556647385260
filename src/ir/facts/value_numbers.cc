#include "ir/facts/value_numbers.h"

#include <algorithm>

#include "base/text/hash.h"
#include "ir/attributes/integer.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/library_call.h"

namespace hespas::ir {
namespace {

// Attributes that say where an op comes from, how it is placed or which channel it uses, not what it computes.
constexpr std::string_view kPlacement[] = {"loc",
                                           "metadata",
                                           "mhlo.sharding",
                                           "sdy.sharding",
                                           "channel_id",
                                           "channel_handle",
                                           "mhlo.frontend_attributes",
                                           "sym_name",
                                           "callee",
                                           "control_dependencies",
                                           "calls",
                                           "called_computation"};

// A step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
uint64_t Scrambled(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

uint64_t Mixed(uint64_t seed, uint64_t next) { return Scrambled(Scrambled(seed) ^ next); }

ValueNumber Mixed(const ValueNumber& seed, const ValueNumber& next) {
  return {Mixed(seed.through, next.through), Mixed(seed.strict, next.strict)};
}

ValueNumber Fresh(uint64_t seed) { return {seed, seed}; }

std::vector<int64_t> WithoutOnes(const Type& type) {
  std::vector<int64_t> dims;
  std::copy_if(type.dims.begin(), type.dims.end(), std::back_inserter(dims), [](int64_t d) { return d != 1; });
  return dims;
}

bool IsScalarInteger(const Type& type) { return type.is_tensor() && type.dims.empty() && IsInteger(type.element); }

}  // namespace

ValueNumbers::ValueNumbers(const Module& module)
    : module_(module), numbers_(module.value_count()), texts_(module.op_count()) {}

bool ValueNumbers::IsPlacement(NameId name) {
  if (name.index() >= placement_.size()) placement_.resize(name.index() + 1);
  std::optional<bool>& known = placement_[name.index()];
  if (!known)
    known = std::find(std::begin(kPlacement), std::end(kPlacement), module_.name(name)) != std::end(kPlacement);
  return *known;
}

// A sum over attributes, so that their order does not matter.
uint64_t ValueNumbers::TextOf(OpId op) {
  uint64_t& known = texts_[op.index()];
  if (known != 0) return known;
  uint64_t attributes = 0;
  for (const Attribute& attribute : module_.attributes(op)) {
    if (IsPlacement(attribute.name)) continue;
    attributes += Mixed(attribute.name.value, HashBytes(attribute.text).low);
  }
  uint64_t text = Mixed(static_cast<uint64_t>(module_.kind(op)), attributes);
  if (module_.kind(op) == OpKind::kUnknown) text = Mixed(text, HashBytes(module_.name(op)).low);
  for (const ValueId result : module_.results(op)) text = Mixed(text, module_.type_id(result).index());
  return known = text | 1;
}

// What only hands values on.
bool ValueNumbers::Alias(OpId op) {
  const OpKind kind = module_.kind(op);
  const auto operands = module_.operands(op);
  const auto results = module_.results(op);
  if (kind == OpKind::kOptimizationBarrier && operands.size() == results.size()) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const ValueNumber& given = of(operands[i]);
      Set(results[i], {given.through, Mixed(Mixed(given.strict, op.index()), i + 1)});
    }
    return true;
  }
  if (kind == OpKind::kTuple && results.size() == 1) {
    ValueNumber number = Fresh(TextOf(op));
    std::vector<ValueNumber> elements;
    for (const ValueId operand : operands) {
      elements.push_back(of(operand));
      number = Mixed(number, of(operand));
    }
    tuples_.try_emplace(number.through, std::move(elements));
    Set(results[0], number);
    return true;
  }
  if (operands.size() != 1 || results.size() != 1) return false;
  if (kind == OpKind::kGetTupleElement) {
    const auto tuple = tuples_.find(of(operands[0]).through);
    const auto index = IntegerAttribute(module_, op, "index");
    if (tuple == tuples_.end() || !index || *index < 0 || static_cast<size_t>(*index) >= tuple->second.size())
      return false;
    Set(results[0], tuple->second[static_cast<size_t>(*index)]);
    return true;
  }
  const bool annotation = kind == OpKind::kSdyAnnotation || CallTarget(module_, op) == "Sharding";
  if (kind != OpKind::kCopy && !annotation) return false;
  Set(results[0], of(operands[0]));
  return true;
}

// Where only dimensions of size 1 come and go.
bool ValueNumbers::Reshape(OpId op) {
  const OpKind kind = module_.kind(op);
  if (kind != OpKind::kReshape && kind != OpKind::kBitcast && kind != OpKind::kBroadcastInDim) return false;
  const ValueId operand = module_.operands(op).front();
  const ValueId result = module_.result(op);
  const Type& from = module_.type(operand);
  const Type& to = module_.type(result);
  if (!from.is_tensor() || !to.is_tensor() || !(from.element == to.element) || WithoutOnes(from) != WithoutOnes(to))
    return false;
  if (kind == OpKind::kBroadcastInDim) {
    const auto dims = IntegersAttribute(module_, op, "broadcast_dimensions");
    if (!dims || !std::is_sorted(dims->begin(), dims->end())) return false;
  }
  const auto known = squeezed_.find(of(operand).through);
  const Squeezed origin =
      known != squeezed_.end() ? known->second : Squeezed{.root = of(operand), .type = module_.type_id(operand)};
  if (origin.type == module_.type_id(result)) {
    Set(result, origin.root);
    return true;
  }
  const ValueNumber number =
      Mixed(origin.root, Fresh(Mixed(HashBytes("squeezed").low, module_.type_id(result).index())));
  squeezed_.try_emplace(number.through, origin);
  Set(result, number);
  return true;
}

// A slice at the loop's iteration.
bool ValueNumbers::Element(OpId op, const IterationIndices& indices) {
  if (module_.kind(op) != OpKind::kDynamicSlice) return false;
  const auto operands = module_.operands(op);
  ValueNumber number = Mixed(Fresh(TextOf(op)), of(operands[0]));
  bool iterates = false;
  for (size_t i = 1; i < operands.size(); ++i) {
    const auto index = indices.find(of(operands[i]).through);
    iterates = iterates || index != indices.end();
    number.strict = Mixed(number.strict, of(operands[i]).strict);
    number.through = Mixed(number.through, index != indices.end() ? index->second : of(operands[i]).through);
  }
  if (!iterates) return false;
  const auto stack = stacks_.find(of(operands[0]).through);
  if (stack != stacks_.end() && module_.type_id(stack->second.update) == module_.type_id(module_.result(op))) {
    number.through = stack->second.number.through;
  }
  Set(module_.result(op), number);
  return true;
}

void ValueNumbers::TagIteration(OpId op) {
  const auto operands = module_.operands(op);
  const bool tagged = std::any_of(operands.begin(), operands.end(),
                                  [&](ValueId value) { return iteration_.contains(of(value).through); });
  if (!tagged) return;
  for (const ValueId result : module_.results(op)) {
    if (IsScalarInteger(module_.type(result))) iteration_.insert(of(result).through);
  }
}

void ValueNumbers::Number(OpId op, std::span<const ValueNumber> bodies, IterationIndices& indices) {
  const auto operands = module_.operands(op);
  const OpKind kind = module_.kind(op);
  if (Alias(op) || (!operands.empty() && Reshape(op))) return TagIteration(op);
  if (kind == OpKind::kDynamicSlice || kind == OpKind::kDynamicUpdateSlice) {
    for (const ValueId operand : operands) {
      const uint64_t number = of(operand).through;
      if (iteration_.contains(number)) indices.try_emplace(number, Mixed(HashBytes("iteration").low, indices.size()));
    }
  }
  if (Element(op, indices)) return;
  ValueNumber number = Fresh(TextOf(op));
  for (const ValueId operand : operands) number = Mixed(number, of(operand));
  for (const ValueNumber& body : bodies) number = Mixed(number, body);
  const auto results = module_.results(op);
  for (size_t i = 0; i < results.size(); ++i) Set(results[i], i == 0 ? number : Mixed(number, Fresh(i)));
  if (kind == OpKind::kDynamicUpdateSlice) {
    const ValueId update = operands[1];
    writes_.try_emplace(number.through, Write{of(operands[0]).through, update, of(update)});
  }
  TagIteration(op);
}

ValueNumber ValueNumbers::Carried(OpId loop, size_t index, const ValueNumber& initial) {
  const ValueNumber number = Mixed(Fresh(Mixed(Mixed(HashBytes("carried").low, loop.index()), index)), initial);
  if (IsScalarInteger(module_.type(module_.arguments(module_.body(loop, 1))[index]))) iteration_.insert(number.through);
  return number;
}

ValueNumber ValueNumbers::LeftBy(OpId loop, size_t index, const ValueNumber& carried, const ValueNumber& returned) {
  const ValueNumber number = Mixed(Mixed(Fresh(Mixed(loop.index(), index)), carried), returned);
  const auto write = writes_.find(returned.through);
  if (write != writes_.end() && write->second.target == carried.through)
    stacks_.try_emplace(number.through, write->second);
  return number;
}

}  // namespace hespas::ir
