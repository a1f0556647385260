#include "ir/facts/shardings.h"

#include "ir/attributes/op_attributes.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::ir {

bool AwaitsPartitioner(const Module& module) {
  if (IntegerAttribute(module, module.root(), "mhlo.num_partitions").value_or(1) < 2) return false;
  bool annotated = false;
  bool exchanges = false;
  WalkNested(module, module.root(), [&](OpId op) {
    const OpKind kind = module.kind(op);
    exchanges = exchanges || IsCollective(kind) || kind == OpKind::kCollectivePermute;
    annotated = annotated || kind == OpKind::kSdyAnnotation || CallTarget(module, op) == "Sharding";
  });
  const std::string_view* arguments = module.attribute(module.main(), "arg_attrs");
  annotated = annotated || (arguments != nullptr && arguments->find("sdy.sharding") != std::string_view::npos);
  return annotated && !exchanges;
}

}  // namespace hespas::ir
