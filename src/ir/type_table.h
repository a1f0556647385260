#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/type.h"

namespace hespas::ir {

class TypeTable {
 public:
  TypeId Intern(Type type);
  TypeId InternScalar(const Element& element);
  TypeId InternTensor(std::vector<int64_t> dims, const Element& element);
  TypeId InternFunction(std::span<const TypeId> inputs, std::span<const TypeId> results);
  const Type& operator[](TypeId id) const { return types_[id.index()]; }
  size_t size() const { return types_.size(); }
  // MLIR's spelling, for example tensor<4x8xbf16>.
  std::string Text(TypeId id) const;

 private:
  std::deque<Type> types_;
  std::unordered_multimap<uint64_t, TypeId> index_;
};

}  // namespace hespas::ir
