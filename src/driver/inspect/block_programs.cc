#include "driver/inspect/block_programs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/system/file.h"
#include "base/text/json.h"
#include "estimate/profile/program_text.h"
#include "graph/block_module.h"
#include "graph/flat_tuples.h"

namespace hespas::driver {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Numbers of values; each member of a tuple has its own, behind those of the program.
class Numbers {
 public:
  explicit Numbers(const ir::Module& module) : module_(module), next_(module.value_count()) {}

  template <class Values>
  OrderedJson Of(const Values& values) {
    OrderedJson numbers = OrderedJson::array();
    for (const ir::ValueId value : values) Append(value, numbers);
    return numbers;
  }

 private:
  void Append(ir::ValueId value, OrderedJson& numbers) {
    if (module_.type(value).kind != ir::TypeKind::kTuple) return numbers.push_back(value.value);
    const ir::TypeId types[] = {module_.type_id(value)};
    const size_t count = graph::FlatTypes(module_.types(), types).size();
    const auto [found, is_new] = first_.try_emplace(value.value, next_);
    if (is_new) next_ += count;
    for (size_t i = 0; i < count; ++i) numbers.push_back(found->second + i);
  }

  const ir::Module& module_;
  size_t next_;
  std::unordered_map<uint32_t, size_t> first_;  // of a tuple's members
};

// Blocks of the same operations are different programs where they do not hand on the same results.
Hash128 KeyOf(const ir::Module& module, const graph::Block& block) {
  std::unordered_map<uint32_t, size_t> places;
  for (size_t i = 0; i < block.ops.size(); ++i) places[block.ops[i].value] = i;
  Hash128 key = block.hash;
  for (const ir::ValueId value : block.outputs) {
    key = Combine(key, (uint64_t{places[module.value(value).owner]} << 32) + module.value(value).index);
  }
  return key;
}

}  // namespace

Status WriteBlockPrograms(const Prepared& prepared, const std::filesystem::path& folder) {
  const ir::Module& module = *prepared.module;
  const ir::BlockId main = module.body(module.main());
  Numbers numbers(module);
  OrderedJson out = {{"arguments", numbers.Of(module.arguments(main))},
                     {"results", numbers.Of(module.operands(module.block(main).ops.back()))},
                     {"blocks", OrderedJson::array()}};
  struct Known {
    std::string file;
    std::string why_not;
  };
  std::unordered_map<Hash128, Known> written;  // compute blocks; those of communication have no hash of their own
  for (size_t i = 0; i < prepared.blocks.blocks.size(); ++i) {
    const graph::Block& block = prepared.blocks.blocks[i];
    const bool computes = block.kind == graph::BlockKind::kCompute;
    const auto [found, is_new] = written.try_emplace(computes ? KeyOf(module, block) : Combine(HashBytes("block"), i));
    if (is_new) {
      found->second.file = fmt::format("block_{}.mlir", i);
      const auto program =
          estimate::WriteBlockProgram(module, block, (folder / found->second.file).string(), !computes);
      if (!program && program.error().kind != &estimate::kNotProfilable) return program.error();
      if (!program) found->second.why_not = program.error().message;
    }
    OrderedJson row = {{"file", found->second.file},
                       {"kind", computes ? "compute" : "communication"},
                       {"inputs", numbers.Of(graph::BlockInputs(module, block))},
                       {"outputs", numbers.Of(block.outputs)}};
    if (!found->second.why_not.empty()) row["not_profilable"] = found->second.why_not;
    out["blocks"].push_back(std::move(row));
  }
  return WriteFileAtomically(folder / "blocks.json", JsonText(out, 1) + "\n");
}

}  // namespace hespas::driver
