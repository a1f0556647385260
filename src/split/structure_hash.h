// Structural hash of blocks: ops, attributes (big constants by their raw text), types, wiring and callees.
//
// - Locations, SSA names, the order in which attributes are written and their spelling (pretty or generic) do not
// count.
// - Stable across runs and machines; linear in the ops hashed, each constant's text is read once.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/hash.h"
#include "ir/attributes/canonical.h"
#include "ir/module.h"

namespace hespas::split {

class StructureHasher {
 public:
  // With `callee_names`, calls of equal functions with different names differ (as in the Python prototype).
  StructureHasher(const ir::Module& module, bool callee_names);

  // `captured` uses follow an op's operands (split/program.h).
  Hash128 Block(std::span<const ir::OpId> ops);

 private:
  struct Callee {
    Hash128 hash;
    enum class State : uint8_t { kNew, kOpen, kDone } state = State::kNew;
  };

  // The op, its attributes, result types, regions and callees; how its operands are wired is not part of it.
  const Hash128& Content(ir::OpId op);
  Hash128 ComputeContent(ir::OpId op);
  void AppendAttributes(ir::OpId op, std::vector<uint64_t>& words);
  void AppendRegions(ir::OpId op, std::vector<uint64_t>& words);
  void AppendCallees(ir::OpId op, std::vector<uint64_t>& words);
  void AppendUse(ir::ValueId value, std::vector<uint64_t>& words);
  std::vector<ir::OpId> CalleesOf(ir::OpId op) const;
  Hash128 FunctionHash(ir::OpId function);
  uint64_t NameHash(ir::NameId name);
  bool Skips(ir::NameId attribute);
  Hash128 AttributeHash(ir::NameId name, std::string_view text);
  uint64_t TypeHash(ir::TypeId type);

  const ir::Module& module_;
  bool callee_names_;
  ir::Canonical canonical_;
  std::unordered_map<Hash128, Hash128> spellings_;  // of an attribute as written -> of MLIR's own spelling
  std::vector<uint64_t> name_hashes_;               // 0: not computed yet
  std::vector<uint64_t> type_hashes_;
  std::vector<std::optional<bool>> skips_;  // attributes, by name
  std::vector<Hash128> contents_;
  std::vector<bool> has_content_;
  std::vector<Callee> callees_;  // by op id, filled on first call
  // Local numbers of values: valid where the stamp equals the epoch.
  std::vector<uint32_t> stamp_;
  std::vector<uint32_t> number_;
  std::vector<uint32_t> inner_stamp_;
  std::vector<uint32_t> inner_number_;
  uint32_t epoch_ = 0;
  uint32_t inner_epoch_ = 0;
  uint32_t inputs_ = 0;
  std::vector<ir::ValueId> captured_;
};

}  // namespace hespas::split
