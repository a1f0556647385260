// Estimates every distinct block of a graph once.
#pragma once

#include "base/progress.h"
#include "base/result.h"
#include "estimate/cache/cache.h"
#include "estimate/estimator.h"
#include "graph/estimate_table.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kNoCostRule{
    "W0511",
    "There is no cost rule for this operation. It is estimated by the bytes of its operands and results at full "
    "memory bandwidth; its arithmetic is not counted. --strict turns this into an error."};
inline constexpr DiagnosticKind kNoCostRuleStrict{
    "E0511",
    "There is no cost rule for this operation and --strict was given. Without --strict it is estimated by the "
    "bytes it moves.",
    Outcome::kUnsupported};
inline constexpr DiagnosticKind kDynamicShape{
    "W0512",
    "The operation has dynamic dimensions; each counts as 1. Export the program with static shapes for a "
    "meaningful estimate."};
inline constexpr DiagnosticKind kUnknownDatatype{
    "W0513",
    "The device names no peak rate for this element type; the device's `peak_flops` is used. Add the type to "
    "`per_datatype_flops` in the device file."};
inline constexpr DiagnosticKind kUnknownTripCount{
    "W0514",
    "The number of iterations of this loop does not follow from constants in the program; its body counts once."};
inline constexpr DiagnosticKind kToolFailed{"W0517",
                                            "The external model that was asked for could not cost this operation; the "
                                            "fallback did (--fallback). The message says "
                                            "what the tool answered."};

inline constexpr DiagnosticKind kScaledBlocks{
    "W0518",
    "Not all blocks were measured: a sample was asked for, or the budget was spent. The others cost what a fit "
    "to the measured ones gives (by the fallback's time, flops, bytes and operations), times the ratio of measured to "
    "that in their family. The error is what this gives for each measured block from the others. What was not measured "
    "is not kept in the cache."};

struct EstimateOptions {
  bool strict = false;  // an op without a cost rule is an error
  bool reuse = true;    // estimate equal blocks once
  Progress* progress = nullptr;
};

// `cache` may be nullptr.
Result<graph::EstimateTable> EstimateAll(const graph::BlockGraph& graph, const Estimator& estimator,
                                         EstimateCache* cache, const EstimateOptions& options,
                                         Diagnostics& diagnostics);

// Reports notes grouped by kind and subject, each group once with its count and first place.
void ReportNotes(const ir::Module& module, const Notes& notes, bool strict, Diagnostics& diagnostics);

// Ops of a block with calls and fusions replaced by what they hold.
size_t ExpandedOpCount(const ir::Module& module, const graph::Block& block);

}  // namespace hespas::estimate
