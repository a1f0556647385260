// Pretty forms with regions: reduce, while, scan; modules, functions and calls.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "read/stablehlo/errors.h"
#include "read/stablehlo/forms/forms.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {
namespace {

constexpr std::string_view kApplicable[] = {"add", "and", "or", "xor", "maximum", "minimum", "multiply"};

bool Done(OpReader&) { return true; }

// `(%x init: %i), (%y init: %j)`; operands are all inputs, then all initial values.
bool ReadReduceOperands(OpReader& r) {
  std::vector<Use> initial;
  do {
    if (!r.c.Expect('(') || !r.Operand() || !r.c.ExpectWord("init") || !r.c.Expect(':')) return false;
    initial.emplace_back();
    if (!r.ReadUse(initial.back()) || !r.c.Expect(')')) return false;
  } while (r.c.Eat(','));
  r.draft.operands.insert(r.draft.operands.end(), initial.begin(), initial.end());
  return true;
}

bool ReadReduceDimensions(OpReader& r) {
  std::string_view list;
  if (!r.c.ExpectWord("across") || !r.c.ExpectWord("dimensions") || !r.c.Expect('=')) return false;
  if (!ReadIntegerList(r, list)) return false;
  r.Add("dimensions", list);
  return r.Dictionary() && r.FunctionSuffix();
}

// Builds the region of `applies OP`: OP of the two arguments, returned.
bool BuildAppliedRegion(OpReader& r, std::string_view inner) {
  // The element types of input and result may differ; the region works on the result's.
  if (r.draft.result_types.size() != 1 || r.draft.operands.size() != 2) {
    return r.c.Fail(kSyntax, r.draft.source, "`applies` goes with one input and one result");
  }
  const ir::Element element = r.m.types()[r.draft.result_types[0]].element;
  const ir::TypeId scalar = r.m.types().InternTensor({}, element);
  const ir::TypeId arguments[] = {scalar, scalar};
  const ir::BlockId block = r.m.AddBlock(arguments);
  const ir::ValueId operands[] = {r.m.arguments(block)[0], r.m.arguments(block)[1]};
  const ir::OpId op = r.m.AddOp(
      block,
      {.name = r.m.InternName(inner), .operands = operands, .result_types = {&scalar, 1}, .source = r.draft.source});
  const ir::ValueId value = r.m.result(op);
  r.m.AddOp(block, {.name = r.m.InternName(fmt::format("{}.return", r.dialect())),
                    .operands = {&value, 1},
                    .source = r.draft.source});
  r.draft.regions.push_back(r.m.AddRegion({&block, 1}));
  return true;
}

bool ReadApplied(OpReader& r) {
  r.c.Space();
  const size_t offset = r.c.offset();
  const std::string_view inner = r.c.Word();
  const size_t dot = inner.find('.');
  const std::string_view mnemonic = inner.substr(std::min(dot + 1, inner.size()));
  const bool known = std::find(std::begin(kApplicable), std::end(kApplicable), mnemonic) != std::end(kApplicable);
  if (!known || inner.substr(0, dot) != r.dialect()) {
    return r.c.Fail(kSyntax, offset,
                    fmt::format("`applies` takes a commutative binary op of {} (add, and, or, xor, "
                                "maximum, minimum, multiply), found `{}`",
                                r.dialect(), inner));
  }
  return ReadReduceDimensions(r) && BuildAppliedRegion(r, inner);
}

// `reducer(%a: T, %b: T) (%c: T, %d: T) {`: arguments are all firsts, then all seconds.
bool ReadReducer(OpReader& r) {
  if (!r.c.ExpectWord("reducer")) return false;
  std::vector<RegionArgument> seconds;
  while (r.c.Eat('(')) {
    if (!r.ReadArgument(true) || !r.c.Expect(',') || !r.ReadArgument(true) || !r.c.Expect(')')) return false;
    seconds.push_back(r.draft.arguments.back());
    r.draft.arguments.pop_back();
    if (!r.SkipLocation()) return false;
  }
  r.draft.arguments.insert(r.draft.arguments.end(), seconds.begin(), seconds.end());
  return r.OpenRegion(Done, false, true);
}

}  // namespace

bool ReadReduce(OpReader& r) {
  if (!ReadReduceOperands(r)) return false;
  if (r.c.EatWord("applies")) return ReadApplied(r);
  return ReadReduceDimensions(r) && r.SkipLocation() && ReadReducer(r);
}

namespace {

std::vector<RegionArgument> SameArguments(const OpReader& r, const ir::RegionId region) {
  std::vector<RegionArgument> arguments;
  const ir::BlockId block = r.m.region(region).first_block;
  size_t i = 0;
  for (const ir::ValueId value : r.m.arguments(block)) {
    RegionArgument argument{.type = r.m.type_id(value)};
    argument.name = r.draft.loop_names[i++];
    arguments.push_back(argument);
  }
  return arguments;
}

bool ConditionDone(OpReader& r) {
  if (!r.c.ExpectWord("do")) return false;
  r.draft.arguments = SameArguments(r, r.draft.regions.back());
  return r.OpenRegion(Done, false, true);
}

}  // namespace

// `(%a = %x, %b = %y) : L(T) (attributes D)? cond { ... } do { ... }`.
bool ReadWhile(OpReader& r) {
  if (!r.c.Expect('(')) return false;
  if (!r.c.Eat(')')) {
    do {
      if (!r.ReadArgument(false) || !r.c.Expect('=') || !r.Operand()) return false;
    } while (r.c.Eat(','));
    if (!r.c.Expect(')') || !r.c.Expect(':') || !r.types.ReadList(r.draft.operand_types)) return false;
  }
  if (r.draft.operand_types.size() != r.draft.operands.size()) {
    return r.c.Fail(kTypeMismatch, r.draft.source,
                    fmt::format("{} loop values, but {} types", r.draft.operands.size(), r.draft.operand_types.size()));
  }
  r.draft.result_types = r.draft.operand_types;
  for (size_t i = 0; i < r.draft.arguments.size(); ++i) {
    r.draft.arguments[i].type = r.draft.operand_types[i];
    r.draft.loop_names.push_back(r.draft.arguments[i].name);
  }
  if (r.c.EatWord("attributes") && !r.ReadDictionary(r.draft.attributes)) return false;
  return r.c.ExpectWord("cond") && r.OpenRegion(ConditionDone, false, true);
}

// `(%in) inits(%init) dimension=n (attributes D)? { ... } : FN`.
bool ReadScan(OpReader& r) {
  if (!r.ParenthesisedOperands()) return false;
  const size_t inputs = r.draft.operands.size();
  if (!r.c.ExpectWord("inits") || !r.ParenthesisedOperands()) return false;
  if (!r.c.ExpectWord("dimension") || !r.c.Expect('=')) return false;
  std::string_view dimension;
  if (!r.c.Integer(dimension)) return false;
  r.Add("dimension", dimension);
  r.AddMade("operandSegmentSizes", fmt::format("array<i32: {}, {}>", inputs, r.draft.operands.size() - inputs));
  if (r.c.EatWord("attributes") && !r.ReadDictionary(r.draft.attributes)) return false;
  return r.OpenRegion([](OpReader& reader) {
    if (!reader.FunctionSuffix()) return false;
    // Carried values come last among operands and results alike.
    const std::string_view* sizes = nullptr;
    for (const ir::Attribute& a : reader.draft.attributes) {
      if (reader.m.name(a.name) == "operandSegmentSizes") sizes = &a.text;
    }
    if (!sizes) return true;
    const size_t comma = sizes->find(", ");
    size_t carried = 0;
    for (const char ch : sizes->substr(comma + 2)) {
      if (ch >= '0' && ch <= '9') carried = carried * 10 + static_cast<size_t>(ch - '0');
    }
    const size_t results = reader.draft.result_types.size();
    carried = std::min(carried, results);
    reader.AddMade("resultSegmentSizes", fmt::format("array<i32: {}, {}>", results - carried, carried));
    return true;
  });
}

// --- modules and functions
// -----------------------------------------------------------------------------------------------

bool ReadModule(OpReader& r) {
  if (r.c.Peek() == '@') {
    std::string_view name;
    if (!r.c.Symbol(name)) return false;
    name.remove_prefix(1);
    if (name.starts_with('"')) {
      r.Add("sym_name", name);
    } else {
      r.AddMade("sym_name", fmt::format("\"{}\"", name));
    }
  }
  if (r.c.EatWord("attributes") && !r.ReadDictionary(r.draft.attributes)) return false;
  return r.OpenRegion(Done, true, true);
}

namespace {

// Types of a signature with the dictionaries behind them, which are mostly absent.
struct Signature {
  std::vector<ir::TypeId> types;
  std::vector<std::string_view> dictionaries;

  bool has_attributes() const {
    return std::any_of(dictionaries.begin(), dictionaries.end(), [](std::string_view d) { return d.size() > 2; });
  }
  std::string Text() const { return fmt::format("[{}]", fmt::join(dictionaries, ", ")); }
};

bool ReadItemDictionary(OpReader& r, Signature& signature) {
  std::string_view dictionary = "{}";
  if (r.c.Peek() == '{' && !r.attributes.Read(dictionary)) return false;
  signature.dictionaries.push_back(dictionary);
  return r.SkipLocation();
}

bool ReadParameters(OpReader& r, Signature& inputs) {
  if (!r.c.Expect('(')) return false;
  if (r.c.Eat(')')) return true;
  do {
    ir::TypeId type;
    if (r.c.Peek() == '%') {
      r.draft.arguments.emplace_back();
      if (!r.ReadUse(r.draft.arguments.back().name) || !r.c.Expect(':') || !r.types.Read(type)) return false;
      r.draft.arguments.back().type = type;
    } else if (!r.types.Read(type)) {
      return false;
    }
    inputs.types.push_back(type);
    if (!ReadItemDictionary(r, inputs)) return false;
  } while (r.c.Eat(','));
  return r.c.Expect(')');
}

bool ReadFunctionResults(OpReader& r, Signature& results) {
  if (!r.c.EatArrow()) return true;
  const bool list = r.c.Eat('(');
  if (list && r.c.Eat(')')) return true;
  do {
    ir::TypeId type;
    if (!r.types.Read(type)) return false;
    results.types.push_back(type);
    if (!list) {
      results.dictionaries.push_back("{}");
      return true;
    }
    if (!ReadItemDictionary(r, results)) return false;
  } while (r.c.Eat(','));
  return r.c.Expect(')');
}

}  // namespace

bool ReadFunction(OpReader& r) {
  std::string_view visibility;
  for (const std::string_view word : {"\"public\"", "\"private\"", "\"nested\""}) {
    if (visibility.empty() && r.c.EatWord(word.substr(1, word.size() - 2))) visibility = word;
  }
  std::string_view name;
  if (!r.c.Symbol(name)) return false;
  name.remove_prefix(1);
  const bool quoted = name.starts_with('"');
  r.Add("sym_name", quoted ? name : r.m.Keep(std::string(1, '"').append(name).append(1, '"')));
  Signature inputs, results;
  if (!ReadParameters(r, inputs) || !ReadFunctionResults(r, results)) return false;
  if (!r.draft.arguments.empty() && r.draft.arguments.size() != inputs.types.size()) {
    return r.c.Fail(kSyntax, r.draft.source, "either all parameters have names or none");
  }
  r.Add("function_type", r.TypeText(r.m.types().InternFunction(inputs.types, results.types)));
  if (!visibility.empty()) r.Add("sym_visibility", visibility);
  if (inputs.has_attributes()) r.AddMade("arg_attrs", inputs.Text());
  if (results.has_attributes()) r.AddMade("res_attrs", results.Text());
  if (r.c.EatWord("attributes") && !r.ReadDictionary(r.draft.attributes)) return false;
  if (r.c.Peek() == '{') return r.OpenRegion(Done, true, !inputs.types.empty());
  r.draft.arguments.clear();
  r.draft.regions.push_back(r.m.AddRegion({}));
  return true;
}

bool ReadCall(OpReader& r) {
  std::string_view callee;
  if (!r.c.Symbol(callee)) return false;
  r.Add("callee", callee);
  return r.ParenthesisedOperands() && r.Dictionary() && r.FunctionSuffix();
}

// The function value is the first operand; its type is that of the suffix.
bool ReadCallIndirect(OpReader& r) {
  if (!r.Operand() || !r.ParenthesisedOperands() || !r.Dictionary() || !r.FunctionSuffix()) return false;
  const ir::TypeId type = r.m.types().InternFunction(r.draft.operand_types, r.draft.result_types);
  r.draft.operand_types.insert(r.draft.operand_types.begin(), type);
  return true;
}

bool ReadFunctionConstant(OpReader& r) {
  std::string_view symbol;
  if (!r.Dictionary() || !r.c.Symbol(symbol)) return false;
  r.Add("value", symbol);
  return ReadTypes(r, 'R');
}

}  // namespace hespas::read
