// What verification asks of a type, found once for each interned type.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "ir/type_table.h"

namespace hespas::ir::verify {

// Classes of types, as bits so that a rule names a set of them.
using ClassMask = uint32_t;
inline constexpr ClassMask kBool = 1u << 0;
inline constexpr ClassMask kSigned = 1u << 1;  // signless iN counts as signed
inline constexpr ClassMask kUnsigned = 1u << 2;
inline constexpr ClassMask kFloat = 1u << 3;
inline constexpr ClassMask kComplex = 1u << 4;
inline constexpr ClassMask kQuantised = 1u << 5;      // per tensor
inline constexpr ClassMask kQuantisedAxis = 1u << 6;  // per axis, fitting the tensor
inline constexpr ClassMask kIndex = 1u << 7;
inline constexpr ClassMask kToken = 1u << 8;
inline constexpr ClassMask kTuple = 1u << 9;
inline constexpr ClassMask kBuffer = 1u << 10;  // memref
inline constexpr ClassMask kFuture = 1u << 11;
inline constexpr ClassMask kOther = 1u << 12;
inline constexpr ClassMask kInteger = kSigned | kUnsigned;
inline constexpr ClassMask kPlain = kBool | kInteger | kFloat | kComplex;
inline constexpr ClassMask kTensor = kPlain | kQuantised;
inline constexpr ClassMask kTensorOrAxis = kTensor | kQuantisedAxis;
inline constexpr ClassMask kAnything = ~ClassMask{0};

// "float or bool tensors" for a message.
std::string ClassNames(ClassMask mask);

// The parts of `!quant.uniform<i8<-127:127>:f32:1, {0.1:3, ...}>`.
struct Quantisation {
  bool per_axis = false;
  int64_t dimension = -1;
  bool is_unsigned = false;
  int64_t bits = 0;   // of the storage
  int64_t least = 0;  // range of the storage, its type's where none is given
  int64_t most = 0;
  std::string_view expressed;  // "f32"
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
};

struct TypeFacts {
  ClassMask classes = 0;  // 0: not looked at yet
  bool ranked = false;    // a ranked tensor
  bool static_shape = false;
  const Quantisation* quantisation = nullptr;  // of a quantised element
  std::string_view flaw;                       // why the quantised element is none, else empty
  std::string_view misfit;                     // why it does not fit the tensor, else empty
};

class TypeFactTable {
 public:
  explicit TypeFactTable(const TypeTable& types, bool mixed_precision = false)
      : types_(types), facts_(types.size()), mixed_precision_(mixed_precision) {}
  const TypeFacts& operator[](TypeId id) {
    TypeFacts& facts = facts_[id.index()];
    if (facts.classes == 0) facts = Find(types_[id]);
    return facts;
  }
  const TypeTable& types() const { return types_; }
  // Floating-point elements of different precision count as the same, as they do in HLO.
  bool mixed_precision() const { return mixed_precision_; }

 private:
  TypeFacts Find(const Type& type);
  const Quantisation* Parse(const Element& element);

  const TypeTable& types_;
  std::vector<TypeFacts> facts_;
  std::deque<Quantisation> quantisations_;
  bool mixed_precision_;
};

// The bounds of a tensor's dynamic dimensions (kDynamic where unbounded), from `#stablehlo.bounds<4, ?>` or
// `#stablehlo.type_extensions<bounds = [4, ?]>`; empty without such an encoding.
std::vector<int64_t> Bounds(const Type& type);

// The largest sizes that the dimensions can have: their own, or their bounds; kDynamic where neither is known.
std::vector<int64_t> UpperSizes(const Type& type);

// Whether one type may stand where the other is inferred: equal, or different only in dynamic dimensions, bounds kept,
// and in scales of quantised elements.
bool Compatible(TypeFactTable& facts, TypeId a, TypeId b);
bool CompatibleShapes(const Type& a, const Type& b);
bool CompatibleElements(TypeFactTable& facts, TypeId a, TypeId b);
inline bool CompatibleSizes(int64_t a, int64_t b) { return a == b || a == kDynamic || b == kDynamic; }
// Whether values of the first element type may be accumulated in the second (is_promotable of the specification).
bool Promotable(TypeFactTable& facts, TypeId from, TypeId to);

}  // namespace hespas::ir::verify
