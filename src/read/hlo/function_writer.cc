#include "read/hlo/function_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {

FunctionWriter::FunctionWriter(const ModuleSyntax& syntax, AttributeBuilder& attributes, TextArena& arena,
                               ir::Module& module)
    : syntax_(syntax), attributes_(attributes), arena_(arena), module_(module), top_(module.AddBlock({})) {
  symbols_.resize(syntax.computations.size());
  used_.insert("main");
  for (size_t i = 0; i < syntax.computations.size(); ++i) {
    symbols_[i] = i == syntax.entry ? "main" : UniqueSymbol(syntax.computations[i].name);
  }
}

std::string FunctionWriter::UniqueSymbol(std::string_view wanted) {
  std::string name(wanted);
  while (!used_.insert(name).second) name = fmt::format("{}.{}", wanted, ++suffix_);
  return name;
}

ir::OpId FunctionWriter::AddFunction(std::string_view symbol, ir::BlockId body, std::span<const ir::TypeId> results,
                                     bool is_private, uint32_t source) {
  ir::Type type;
  type.kind = ir::TypeKind::kFunction;
  for (const ir::ValueId argument : module_.arguments(body)) type.nested.push_back(module_.type_id(argument));
  type.input_count = static_cast<uint32_t>(type.nested.size());
  type.nested.insert(type.nested.end(), results.begin(), results.end());
  const std::string_view type_text = arena_.Copy(module_.types().Text(module_.types().Intern(std::move(type))));
  std::vector<ir::Attribute> attributes = {{module_.InternName("sym_name"), arena_.Copy(fmt::format("\"{}\"", symbol))},
                                           {module_.InternName("function_type"), type_text}};
  if (is_private) attributes.push_back({module_.InternName("sym_visibility"), "\"private\""});
  const ir::RegionId region = module_.AddRegion(std::span(&body, 1));
  const ir::OpId op = module_.AddOp(top_, {.name = module_.InternName("func.func"),
                                           .attributes = attributes,
                                           .regions = std::span(&region, 1),
                                           .source = source});
  module_.AddSymbol(arena_.Copy(symbol), op);
  return op;
}

void FunctionWriter::AddArgumentShardings(ir::OpId function, const ComputationFacts& entry, const ShapeTable& shapes) {
  const auto instructions = syntax_.instructions_of(syntax_.computations[syntax_.entry]);
  std::string text;
  bool any = false;
  for (const uint32_t parameter : entry.parameters) {
    const auto sharding = ValueOf(syntax_.attributes_of(instructions[parameter]), "sharding");
    const uint32_t count = shapes[instructions[parameter].shape].leaf_count;
    const bool given = !sharding.empty() && count == 1;
    any = any || given;
    for (uint32_t i = 0; i < count; ++i) {
      text += text.empty() ? "[" : ", ";
      text += given ? fmt::format("{{mhlo.sharding = {}}}", attributes_.Quoted(sharding)) : "{}";
    }
  }
  if (!any) return;
  const auto old = module_.attributes(function);
  std::vector<ir::Attribute> attributes(old.begin(), old.end());
  text += ']';
  attributes.push_back({module_.InternName("arg_attrs"), arena_.Copy(text)});
  module_.SetAttributes(function, attributes);
}

void FunctionWriter::WriteModule() {
  std::vector<ir::Attribute> attributes = {
      {module_.InternName("sym_name"), arena_.Copy(fmt::format("\"{}\"", syntax_.name))}};
  for (const AttributeSyntax& a : syntax_.module_attributes) attributes.push_back(ModuleAttribute(a));
  const ir::RegionId region = module_.AddRegion(std::span(&top_, 1));
  module_.AddOp(
      ir::BlockId(),
      {.name = module_.InternName("builtin.module"), .attributes = attributes, .regions = std::span(&region, 1)});
}

ir::Attribute FunctionWriter::ModuleAttribute(const AttributeSyntax& a) {
  const bool number = !a.value.empty() && std::all_of(a.value.begin(), a.value.end(), IsDigit);
  const std::string_view name = a.key == "replica_count"    ? "mhlo.num_replicas"
                                : a.key == "num_partitions" ? "mhlo.num_partitions"
                                                            : a.key;
  if (number) return {module_.InternName(name), arena_.Copy(fmt::format("{} : i32", a.value))};
  if (a.value == "true" || a.value == "false") return {module_.InternName(name), a.value};
  return {module_.InternName(name), attributes_.Quoted(a.value)};
}

std::string SymbolText(std::string_view name) {
  const bool bare = name.find('-') == std::string_view::npos && !IsDigit(name[0]) && name[0] != '.';
  return bare ? fmt::format("@{}", name) : fmt::format("@\"{}\"", name);
}

}  // namespace hespas::read::hlo
