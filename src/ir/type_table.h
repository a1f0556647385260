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
  TypeTable() = default;
  TypeTable(TypeTable&&) = default;
  TypeTable& operator=(TypeTable&&) = default;
  TypeId Intern(Type type);
  TypeId InternScalar(const Element& element);
  TypeId InternTensor(std::vector<int64_t> dims, const Element& element);
  TypeId InternFunction(std::span<const TypeId> inputs, std::span<const TypeId> results);
  const Type& operator[](TypeId id) const { return *rows_[id.index()].type; }
  int64_t byte_size(TypeId id) const { return rows_[id.index()].bytes; }
  size_t size() const { return rows_.size(); }
  // MLIR's spelling, for example tensor<4x8xbf16>.
  std::string Text(TypeId id) const;

 private:
  // What every pass asks for, at hand.
  struct KnownType {
    const Type* type;
    int64_t bytes;
  };
  int64_t CountBytes(const Type& type) const;

  std::deque<Type> types_;  // they stay where they are
  std::vector<KnownType> rows_;
  std::unordered_multimap<uint64_t, TypeId> index_;
};

inline int64_t ByteSize(const TypeTable& types, TypeId type) { return types.byte_size(type); }

}  // namespace hespas::ir
