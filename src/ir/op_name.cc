#include "ir/op_name.h"

namespace hespas::ir {

std::string StableName(const Module& module, OpId op) {
  constexpr std::string_view kDialect = "vhlo.";
  std::string_view name = module.name(op);
  if (!name.starts_with(kDialect)) return std::string(name);
  name.remove_prefix(kDialect.size());
  name = name.substr(0, name.rfind("_v"));
  const OpId parent = module.parent_op(op);
  const bool in_function = parent.valid() && module.kind(parent) == OpKind::kFunc;
  const bool is_func = name == "func" || name == "call" || (name == "return" && in_function);
  std::string out(is_func ? "func." : "stablehlo.");
  out += name;
  return out;
}

}  // namespace hespas::ir
