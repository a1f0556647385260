#include "driver/inspect/program_findings.h"

#include <algorithm>

#include "estimate/cost.h"
#include "estimate/estimate_all.h"
#include "ir/facts/execution/trip_count.h"
#include "ir/facts/library_call.h"
#include "ir/facts/shardings.h"
#include "ir/walk.h"

namespace hespas::driver {
namespace {

using estimate::NoteKind;

bool IsDynamic(const ir::Type& type) {
  return std::find(type.dims.begin(), type.dims.end(), ir::kDynamic) != type.dims.end();
}

// Sizes that are open in the arguments make those of all that depends on them open: only where none are, operations
// are named.
bool ReportDynamicArguments(const ir::Module& module, Diagnostics& diagnostics) {
  const ir::BlockId body = module.main().valid() ? module.body(module.main()) : ir::BlockId();
  if (!body.valid()) return false;
  size_t index = 0;
  for (const ir::ValueId argument : module.arguments(body)) {
    if (!IsDynamic(module.type(argument))) {
      ++index;
      continue;
    }
    diagnostics.Warning(estimate::kDynamicShape,
                        fmt::format("argument {} is `{}`: dynamic dimensions count as 1", index,
                                    module.types().Text(module.type_id(argument))),
                        module.location(module.main()), "--bind gives them sizes: hespas run --bind b=8, or 0.1=128");
    return true;
  }
  return false;
}

void NoteOp(const ir::Module& module, ir::OpId op, bool dynamic, estimate::Notes& notes) {
  const ir::OpKind kind = module.kind(op);
  if (kind == ir::OpKind::kWhile && !ir::TripCount(module, op)) {
    notes.push_back({NoteKind::kUnknownTripCount, op, "while"});
  }
  if (kind == ir::OpKind::kCustomCall && ir::CalledOperation(module, op).empty() &&
      !estimate::CostOf(module, op).known) {
    notes.push_back({NoteKind::kUnknownCustomCall, op, ir::CallTarget(module, op)});
  }
  if (dynamic && estimate::HasDynamicShape(module, op)) {
    notes.push_back({NoteKind::kDynamicShape, op, std::string(module.name(op))});
  }
}

}  // namespace

void ReportFindings(const ir::Module& module, Diagnostics& diagnostics) {
  if (ir::AwaitsPartitioner(module)) {
    diagnostics.Warning(kGlobalProgram,
                        "shardings of this program have not been applied: its shapes are those of the whole",
                        module.main().valid() ? module.location(module.main()) : Location{.file = module.path()},
                        "hespas run lets XLA's partitioner apply them, hespas export writes the partitioned program");
  }
  const bool named = ReportDynamicArguments(module, diagnostics);
  estimate::Notes notes;
  ir::WalkNested(module, module.root(), [&](ir::OpId op) { NoteOp(module, op, !named, notes); });
  estimate::ReportNotes(module, notes, false, diagnostics);
}

}  // namespace hespas::driver
