// Which computations an instruction names, and what becomes of them.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "read/hlo/lowering.h"
#include "read/hlo/text/opcode.h"

namespace hespas::read::hlo {

// An instruction as the lowering sees it, resolved once for all places where its computation is expanded.
struct Resolved {
  Opcode opcode;
  ir::NameId name;
  std::vector<uint32_t> regions;    // computations that become its regions, in the IR's order
  std::vector<uint32_t> functions;  // computations that it calls by symbol
};

struct ComputationFacts {
  std::vector<uint32_t> parameters;        // instruction of each parameter number, relative
  std::vector<uint32_t> leaf_offsets;      // leaves before each parameter
  std::vector<ir::TypeId> argument_types;  // all leaves
  bool is_function = false;                // named by a call, an async-start or nobody
};

struct CallGraph {
  std::vector<Resolved> kinds;    // instructions without callees share one for each opcode
  std::vector<uint32_t> kind_of;  // by instruction
  std::vector<ComputationFacts> computations;

  const Resolved& instruction(size_t index) const { return kinds[kind_of[index]]; }
};

CallGraph ResolveCalls(const ModuleSyntax& syntax, const ShapeTable& shapes, ir::Module& module,
                       Diagnostics& diagnostics);

}  // namespace hespas::read::hlo
