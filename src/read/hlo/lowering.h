// Builds the IR from parsed HLO: see docs/reference/hlo-mapping.md for what becomes what.
#pragma once

#include "ir/module.h"
#include "read/hlo/text/syntax.h"
#include "read/text_arena.h"

namespace hespas::read::hlo {

inline constexpr DiagnosticKind kUnknownComputation{
    "E0206", "An instruction names a computation that the module does not define."};
inline constexpr DiagnosticKind kBadAttribute{
    "E0207",
    "An attribute is missing or its value could not be read (window, dim_labels, slice, padding, lists of integers)."};
inline constexpr DiagnosticKind kSignatureMismatch{
    "E0208", "The operands of an instruction do not fit the parameters of the computation that it names."};
inline constexpr DiagnosticKind kBadParameters{
    "E0209", "A computation's parameters are not numbered 0, 1, 2, ... without gaps."};
inline constexpr DiagnosticKind kExpansionLimit{
    "E0210",
    "Computations become regions of the instructions that name them. Here they name each other in a cycle, or so often "
    "that the program would grow beyond the limit."};
inline constexpr DiagnosticKind kBadLiteral{
    "E0212", "A constant's literal has another number of values, other nesting or other elements than its shape says."};
inline constexpr DiagnosticKind kUnknownOpcode{
    "W0201", "The opcode is not known to this version; the instruction is kept as an opaque operation without cost."};

void Lower(const ModuleSyntax& syntax, const ShapeTable& shapes, TextArena& arena, ir::Module& module,
           Diagnostics& diagnostics);

}  // namespace hespas::read::hlo
