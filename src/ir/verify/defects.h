// What verification finds wrong.
#pragma once

#include "base/diagnostic.h"

namespace hespas::ir::verify {

inline constexpr DiagnosticKind kWrongCount{
    "E0401", "An op has another number of operands, results or regions than its definition says."};
inline constexpr DiagnosticKind kWrongType{
    "E0402", "An operand or result has a type that the op does not take, such as a float where integers are needed."};
inline constexpr DiagnosticKind kTypeMismatch{
    "E0403",
    "Types that must agree do not: shapes or element types of operands, or a result type that differs from what the "
    "operands and attributes imply."};
inline constexpr DiagnosticKind kBadAttribute{
    "E0404", "A required attribute is missing, cannot be read, or has a value outside what the op allows."};
inline constexpr DiagnosticKind kBadDimension{
    "E0405", "An attribute names dimensions or sizes that do not exist, repeat, or do not fit the operands' shapes."};
inline constexpr DiagnosticKind kBadRegion{"E0406",
                                           "A region takes other arguments or returns other values than its op needs."};
inline constexpr DiagnosticKind kBadGroups{
    "E0407", "Replica groups, channels or source-target pairs of a collective are inconsistent."};
inline constexpr DiagnosticKind kBadSymbol{
    "E0408", "A call or composite refers to a function that does not exist or has another signature."};
inline constexpr DiagnosticKind kBadQuantisation{"E0409",
                                                 "Quantised types of an op's operands and results do not go together."};
inline constexpr DiagnosticKind kUseBeforeDefinition{"E0410",
                                                     "An op uses a value that is defined after it, or by itself. Every "
                                                     "op must follow the ops that define its operands."};

}  // namespace hespas::ir::verify
