#include "driver/block_programs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/file.h"
#include "estimate/profile/program_text.h"
#include "graph/block_module.h"

namespace hespas::driver {
namespace {

using Json = nlohmann::ordered_json;

template <class Values>
Json Numbers(const Values& values) {
  Json numbers = Json::array();
  for (const ir::ValueId value : values) numbers.push_back(value.value);
  return numbers;
}

}  // namespace

Status WriteBlockPrograms(const Prepared& prepared, const std::filesystem::path& folder) {
  const ir::Module& module = *prepared.module;
  const ir::BlockId main = module.body(module.main());
  Json out = {{"arguments", Numbers(module.arguments(main))},
              {"results", Numbers(module.operands(module.block(main).ops.back()))},
              {"blocks", Json::array()}};
  struct Known {
    std::string file;
    std::string why_not;
  };
  std::unordered_map<Hash128, Known> written;  // compute blocks; those of communication have no hash of their own
  for (size_t i = 0; i < prepared.blocks.blocks.size(); ++i) {
    const graph::Block& block = prepared.blocks.blocks[i];
    const bool computes = block.kind == graph::BlockKind::kCompute;
    const auto [found, is_new] = written.try_emplace(computes ? block.hash : Combine(HashBytes("block"), i));
    if (is_new) {
      found->second.file = fmt::format("block_{}.mlir", i);
      const auto program =
          estimate::WriteBlockProgram(module, block, (folder / found->second.file).string(), !computes);
      if (!program && program.error().kind != &estimate::kNotProfilable) return program.error();
      if (!program) found->second.why_not = program.error().message;
    }
    Json row = {{"file", found->second.file},
                {"kind", computes ? "compute" : "communication"},
                {"inputs", Numbers(graph::BlockInputs(module, block))},
                {"outputs", Numbers(block.outputs)}};
    if (!found->second.why_not.empty()) row["not_profilable"] = found->second.why_not;
    out["blocks"].push_back(std::move(row));
  }
  return WriteFileAtomically(folder / "blocks.json", out.dump(1) + "\n");
}

}  // namespace hespas::driver
