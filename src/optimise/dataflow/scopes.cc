#include "optimise/dataflow/scopes.h"

#include "ir/facts/framework_name.h"

namespace hespas::optimise {

Scopes::Scopes(ir::Module& source)
    : source_(source), location_(source.InternName("loc")), metadata_(source.InternName("metadata")) {}

ir::NameId Scopes::Own(ir::OpId op) {
  for (const ir::Attribute& attribute : source_.attributes(op)) {
    if (!Holds(attribute.name)) continue;
    const auto [found, is_new] = by_text_.try_emplace(attribute.text);
    if (is_new) {
      const std::string name = ir::NameIn(source_, attribute);
      if (!name.empty()) found->second = source_.InternName(name);
    }
    if (found->second.valid()) return found->second;
  }
  return ir::NameId();
}

ir::NameId Scopes::Of(ir::OpId op, ir::NameId caller) {
  const ir::NameId own = Own(op);
  if (!caller.valid() || !own.valid()) return own.valid() ? own : caller;
  const auto [found, is_new] = in_caller_.try_emplace({caller.value, own.value});
  if (is_new) found->second = source_.InternName(ir::NameInCaller(source_.name(caller), source_.name(own)));
  return found->second;
}

}  // namespace hespas::optimise
