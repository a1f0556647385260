// What holds of a whole HLO module, beside the rules of single operations (ir/verify): who calls whom, which
// instructions wait for each other, and which buffers share memory.
//
// - The rules are those of XLA's verifier and alias configuration: xla/service/hlo_verifier.cc,
//   xla/hlo/ir/hlo_input_output_alias_config.cc, xla/hlo/parser/hlo_parser.cc.
#pragma once

#include "read/hlo/callees.h"
#include "read/hlo/text/syntax.h"

namespace hespas::read::hlo {

inline constexpr DiagnosticKind kBadAlias{
    "E0213",
    "input_output_alias, buffer_donor or output_to_operand_aliasing lets buffers share memory that do not exist, "
    "differ in "
    "size, or are shared already. An entry is `{OUTPUT}: (PARAMETER, {INDEX}, may-alias)`, where OUTPUT and INDEX are "
    "places in tuples, and {} is the whole."};
inline constexpr DiagnosticKind kBadControl{"E0214",
                                            "control-predecessors names no instruction of the same computation, or "
                                            "instructions wait for each other in a cycle: "
                                            "the program could never run."};
inline constexpr DiagnosticKind kUnpairedStart{
    "E0215",
    "An asynchronous start has no done that waits for it, so nothing says when its result is there; or a done waits "
    "for something else than a start of its operation."};

// All defects go to `diagnostics`.
void CheckModule(const ModuleSyntax& syntax, const ShapeTable& shapes, const CallGraph& calls, const ir::Module& module,
                 Diagnostics& diagnostics);

}  // namespace hespas::read::hlo
