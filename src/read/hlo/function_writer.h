// The module's top level: functions, their symbols, the module op itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "read/hlo/attributes/attributes.h"
#include "read/hlo/callees.h"

namespace hespas::read::hlo {

class FunctionWriter {
 public:
  FunctionWriter(const ModuleSyntax& syntax, AttributeBuilder& attributes, TextArena& arena, ir::Module& module);

  // The symbol of a computation: `main` for the entry, else its own name.
  const std::string& symbol(uint32_t computation) const { return symbols_[computation]; }
  // `wanted`, or that with a number behind it where it is taken.
  std::string UniqueSymbol(std::string_view wanted);

  ir::OpId AddFunction(std::string_view symbol, ir::BlockId body, std::span<const ir::TypeId> results, bool is_private,
                       uint32_t source);
  // arg_attrs = [{mhlo.sharding = "..."}, {}, ...], where any parameter of the entry has a sharding.
  void AddArgumentShardings(ir::OpId function, const ComputationFacts& entry, const ShapeTable& shapes);
  // The builtin.module around all functions; the last thing to write.
  void WriteModule();

 private:
  ir::Attribute ModuleAttribute(const AttributeSyntax& attribute);

  const ModuleSyntax& syntax_;
  AttributeBuilder& attributes_;
  TextArena& arena_;
  ir::Module& module_;
  ir::BlockId top_;
  std::vector<std::string> symbols_;
  std::unordered_set<std::string> used_;
  size_t suffix_ = 0;
};

// `@name`, quoted where MLIR asks for it.
std::string SymbolText(std::string_view name);

}  // namespace hespas::read::hlo
