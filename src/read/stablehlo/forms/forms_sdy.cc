// Pretty forms of the Shardy dialect.
#include <fmt/format.h>

#include "read/stablehlo/errors.h"
#include "read/stablehlo/forms/forms.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {
namespace {

// `<@mesh, [...]>` or `#sdy.sharding<...>` -> `#sdy.sharding<...>`.
bool ReadSharding(OpReader& r, std::string_view attribute) {
  std::string_view text;
  if (r.c.Peek() == '#') {
    if (!r.attributes.Read(text)) return false;
    r.Add(attribute, text);
    return true;
  }
  if (!r.attributes.ReadBracketed(text)) return false;
  r.AddMade(attribute, fmt::format("#sdy.sharding{}", text));
  return true;
}

// `[<@mesh, ...>, ...]` -> `#sdy.sharding_per_value<[...]>`.
bool ReadShardings(OpReader& r, std::string_view word) {
  std::string_view text;
  if (!r.c.Expect('=') || !r.attributes.ReadBracketed(text)) return false;
  r.AddMade(word, fmt::format("#sdy.sharding_per_value<{}>", text));
  return true;
}

bool BodyDone(OpReader& r) { return r.Dictionary() && r.FunctionSuffix(); }

bool ReadBody(OpReader& r) {
  if (!r.c.Expect('(')) return false;
  if (!r.c.Eat(')')) {
    do {
      if (!r.ReadArgument(true)) return false;
    } while (r.c.Eat(','));
    if (!r.c.Expect(')')) return false;
  }
  return r.OpenRegion(BodyDone, true, true);
}

}  // namespace

bool ReadMesh(OpReader& r) {
  std::string_view symbol, mesh;
  if (!r.c.Symbol(symbol) || !r.c.Expect('=')) return false;
  symbol.remove_prefix(1);
  r.AddMade("sym_name", symbol.starts_with('"') ? std::string(symbol) : fmt::format("\"{}\"", symbol));
  if (!r.attributes.ReadBracketed(mesh)) return false;
  r.AddMade("mesh", fmt::format("#sdy.mesh{}", mesh));
  return r.Dictionary();
}

bool ReadManualComputation(OpReader& r) {
  if (!r.ParenthesisedOperands()) return false;
  if (!r.c.ExpectWord("in_shardings") || !ReadShardings(r, "in_shardings")) return false;
  if (!r.c.ExpectWord("out_shardings") || !ReadShardings(r, "out_shardings")) return false;
  std::string_view axes;
  if (!r.c.ExpectWord("manual_axes") || !r.c.Expect('=') || !r.attributes.ReadBracketed(axes)) return false;
  r.AddMade("manual_axes", fmt::format("#sdy<manual_axes{}>", axes));
  return ReadBody(r);
}

bool ReadNamedComputation(OpReader& r) {
  std::string_view name;
  if (!r.c.Expect('<') || !r.c.String(name) || !r.c.Expect('>') || !r.ParenthesisedOperands()) return false;
  r.Add("name", name);
  if (r.c.EatWord("in_shardings") && !ReadShardings(r, "in_shardings")) return false;
  if (r.c.EatWord("out_shardings") && !ReadShardings(r, "out_shardings")) return false;
  return ReadBody(r);
}

// `%x <@mesh, [...]> : T`.
bool ReadShardedOp(OpReader& r) {
  return r.Operand() && ReadSharding(r, "sharding") && r.Dictionary() && ReadTypes(r, 'S');
}

// `[{..}, {"x"}] %x out_sharding=S : T`.
bool ReadSdyCollective(OpReader& r) {
  std::string_view axes;
  const std::string_view mnemonic = r.draft.spelling.substr(4);
  const std::string_view attribute = mnemonic == "all_gather"       ? "gathering_axes"
                                     : mnemonic == "all_slice"      ? "slicing_axes"
                                     : mnemonic == "all_reduce"     ? "reduction_axes"
                                     : mnemonic == "all_to_all"     ? "params"
                                     : mnemonic == "reduce_scatter" ? "reduce_scatter_axes"
                                                                    : "axes";
  const std::string_view wrapper = mnemonic == "all_reduce"   ? "#sdy<axis_ref_list"
                                   : mnemonic == "all_to_all" ? "#sdy<all_to_all_param_list"
                                                              : "#sdy<list_of_axis_ref_lists";
  if (!r.attributes.ReadBracketed(axes)) return false;
  r.AddMade(attribute, fmt::format("{}{}>", wrapper, axes));
  if (!r.Operand() || !r.c.ExpectWord("out_sharding") || !r.c.Expect('=')) return false;
  return ReadSharding(r, "out_sharding") && r.Dictionary() && ReadTypes(r, 'S');
}

// `%x (keyword=value)* : T`.
bool ReadSdyKeywordOp(OpReader& r) {
  if (!r.Operand()) return false;
  while (IsLetter(r.c.Peek())) {
    const std::string_view key = r.c.Word();
    if (!r.c.Expect('=')) return false;
    if (key.find("sharding") != std::string_view::npos && key != "sharding_rule") {
      if (!ReadSharding(r, key)) return false;
    } else if (key == "allowed_direction") {
      const std::string_view value = r.c.Word();
      if (value != "NONE" && value != "FORWARD" && value != "BACKWARD" && value != "BOTH") {
        return r.c.FailExpected("NONE, FORWARD, BACKWARD or BOTH");
      }
      constexpr std::string_view kValues[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
      const auto index = std::find(std::begin(kValues), std::end(kValues), value) - std::begin(kValues);
      r.AddMade(key, fmt::format("{} : i32", index));
    } else {
      std::string_view text;
      if (!r.c.Integer(text)) return false;
      r.Add(key, text);
    }
  }
  if (!r.Dictionary() || !ReadTypes(r, 'S')) return false;
  const std::string_view mnemonic = r.draft.spelling.substr(4);
  if (mnemonic == "sharding_group") r.draft.result_types.clear();
  return true;
}

}  // namespace hespas::read
