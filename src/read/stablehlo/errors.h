// The kinds of error that the StableHLO text reader reports.
#pragma once

#include "base/diagnostic.h"

namespace hespas::read {

inline constexpr DiagnosticKind kSyntax{
    "E0101", "The text does not follow the grammar of MLIR or of this op. The message says what was expected."};
inline constexpr DiagnosticKind kUndefinedValue{
    "E0102",
    "An operand names a value that nothing defines in its function. Look for a misspelt or removed definition."};
inline constexpr DiagnosticKind kRedefinedValue{
    "E0103", "A value, a block or an alias is defined twice where both definitions are visible."};
inline constexpr DiagnosticKind kUnknownOp{
    "E0104",
    "An op is written in a pretty form that this reader does not know. Ops of unknown dialects can be read in their "
    "generic form, \"dialect.op\"(%operands) : (types) -> types."};
inline constexpr DiagnosticKind kBadType{"E0105", "A type is malformed or unknown."};
inline constexpr DiagnosticKind kBadAttribute{"E0106", "An attribute is malformed."};
inline constexpr DiagnosticKind kBadAlias{"E0107",
                                          "An alias (`#name` or `!name`) is not defined, or refers to itself."};
inline constexpr DiagnosticKind kTypeMismatch{
    "E0108",
    "The types written after an op do not fit its operands or results: their number differs, or an operand was defined "
    "with another type."};
inline constexpr DiagnosticKind kTooDeep{"E0109", "Types or attributes are nested deeper than the reader's limit."};
inline constexpr DiagnosticKind kTruncated{
    "E0110", "The file ends in the middle of an op, a region or a string. It was probably cut off: fetch it again."};
inline constexpr DiagnosticKind kSourceTooLarge{
    "E0111",
    "The program's text is larger than 4 GiB, the limit of this reader. Keep large constants in hexadecimal, as "
    "resources, or pass them as arguments."};
inline constexpr DiagnosticKind kNotAProgram{
    "E0112",
    "The file is empty or holds no program that Hespas can read: StableHLO or MHLO text, HLO text, MLIR bytecode, each "
    "also compressed with gzip or zstd. `jax.jit(f).lower(...).as_text()` is such a text; of jax.export it is "
    "`exported.mlir_module_serialized`, the bytes of the module, which `exported.serialize()` wraps in a format of "
    "JAX's own."};
inline constexpr std::string_view kProgramsHelp =
    "give a StableHLO or MHLO program, HLO text or MLIR bytecode; of jax.export write "
    "`exported.mlir_module_serialized` into a file";
inline constexpr DiagnosticKind kNoMain{
    "E0113",
    "The program has no function called main, where execution would start. Rename the entry function to main."};

}  // namespace hespas::read
