#include "estimate/ptx/opcode.h"

#include <algorithm>
#include <charconv>

namespace hespas::estimate::ptx {
namespace {

using Parts = std::vector<std::string_view>;

Parts Split(std::string_view opcode) {
  Parts parts;
  for (size_t at = 0; at <= opcode.size();) {
    const size_t end = std::min(opcode.find('.', at), opcode.size());
    parts.push_back(opcode.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool Has(const Parts& parts, std::string_view part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

int Number(std::string_view digits, int otherwise) {
  int value = otherwise;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Bits of a type such as u32, bf16x2 or e4m3; 0 for what is no type.
int TypeBits(std::string_view part) {
  if (part == "pred") return 1;
  if (part == "tf32") return 32;
  if (part == "e4m3" || part == "e5m2") return 8;
  const size_t digits = part.find_first_of("0123456789");
  const std::string_view letters = part.substr(0, std::min(digits, part.size()));
  if (letters != "u" && letters != "s" && letters != "b" && letters != "f" && letters != "bf") return 0;
  const int bits = Number(part.substr(std::min(digits, part.size())), 0);
  return part.ends_with("x2") ? 2 * bits : bits;
}

bool IsFloat(std::string_view part) { return part.starts_with("f") || part.starts_with("bf") || part == "tf32"; }

std::string_view TypeOf(const Parts& parts) {
  for (size_t i = parts.size(); i-- > 1;) {
    if (TypeBits(parts[i]) > 0) return parts[i];
  }
  return {};
}

struct Row {
  std::string_view name;
  Action action;
};
constexpr Row kActions[] = {
    {"mov", Action::kMove},        {"cvta", Action::kMove},      {"add", Action::kAdd},
    {"sub", Action::kSubtract},    {"mul", Action::kMultiply},   {"mul24", Action::kMultiply},
    {"mad", Action::kMultiplyAdd}, {"fma", Action::kUnknown},    {"div", Action::kDivide},
    {"rem", Action::kRemainder},   {"min", Action::kMinimum},    {"max", Action::kMaximum},
    {"and", Action::kAnd},         {"or", Action::kOr},          {"xor", Action::kXor},
    {"not", Action::kNot},         {"neg", Action::kNegate},     {"abs", Action::kUnknown},
    {"shl", Action::kShiftLeft},   {"shr", Action::kShiftRight}, {"cvt", Action::kConvert},
    {"setp", Action::kCompare},    {"selp", Action::kSelect},    {"bra", Action::kBranch},
    {"ret", Action::kExit},        {"exit", Action::kExit},
};
constexpr std::string_view kArithmetic[] = {
    "add", "sub", "mul", "mul24", "mad", "fma", "div", "rem",  "min",  "max",  "and", "or",  "xor",  "not",
    "neg", "abs", "shl", "shr",   "bfe", "bfi", "shf", "dp4a", "dp2a", "popc", "clz", "sad", "lop3", "copysign"};
constexpr std::string_view kSpecialFunctions[] = {"ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt"};

constexpr struct {
  std::string_view name;
  Comparison comparison;
} kComparisons[] = {{"eq", Comparison::kEqual},       {"ne", Comparison::kNotEqual},  {"lt", Comparison::kLess},
                    {"le", Comparison::kLessEqual},   {"gt", Comparison::kGreater},   {"ge", Comparison::kGreaterEqual},
                    {"lo", Comparison::kLess},        {"ls", Comparison::kLessEqual}, {"hi", Comparison::kGreater},
                    {"hs", Comparison::kGreaterEqual}};

// 2 m n k of a shape such as m16n8k16; 0 for other texts.
double ShapeFlops(std::string_view shape) {
  const size_t n = shape.find('n'), k = shape.find('k');
  if (!shape.starts_with('m') || n == std::string_view::npos || k == std::string_view::npos) return 0;
  return 2.0 * Number(shape.substr(1), 0) * Number(shape.substr(n + 1), 0) * Number(shape.substr(k + 1), 0);
}

void DecodeTensor(const Parts& parts, Instruction& made) {
  made.unit = Unit::kTensor;
  for (const std::string_view part : parts) made.tensor_flops = std::max(made.tensor_flops, ShapeFlops(part));
  if (parts[0] == "wgmma") made.tensor_flops /= 4;  // four warps do one together
  // The types are d, a, b, c; the operands' decides the rate.
  std::vector<int> types;
  for (const std::string_view part : parts) {
    if (TypeBits(part) > 0) types.push_back(TypeBits(part));
  }
  if (types.size() >= 3) made.element_bits = static_cast<uint8_t>(types[1]);
}

Unit SpaceOf(const Parts& parts) {
  if (Has(parts, "shared") || std::any_of(parts.begin(), parts.end(), [](auto p) { return p.starts_with("shared::"); }))
    return Unit::kShared;
  if (Has(parts, "local")) return Unit::kLocal;
  return Has(parts, "const") ? Unit::kOther : Unit::kGlobal;
}

void DecodeMemory(const Parts& parts, Instruction& made) {
  if (parts[0] == "ld" && Has(parts, "param")) {
    made.action = Action::kLoadParameter;
    return;
  }
  made.action = Action::kMemory;
  made.unit = SpaceOf(parts);
  made.is_store = parts[0] != "ld" && parts[0] != "ldu";
  made.is_load = parts[0] != "st";
  const int elements = Has(parts, "v8") ? 8 : Has(parts, "v4") ? 4 : Has(parts, "v2") ? 2 : 1;
  made.bytes = elements * std::max(1, made.bits / 8);
}

void DecodeMatrixMove(const Parts& parts, Instruction& made) {
  made.action = Action::kMemory;
  made.unit = SpaceOf(parts);
  if (parts[0] == "ldmatrix" || parts[0] == "stmatrix") made.unit = Unit::kShared;
  made.is_load = parts[0] == "ldmatrix" || Has(parts, "load");
  made.is_store = !made.is_load;
  made.bytes = 4 * (Has(parts, "x4") ? 4 : Has(parts, "x2") ? 2 : 1);
}

void DecodeArithmetic(const Parts& parts, std::string_view type, Instruction& made) {
  const auto listed = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), parts[0]) != std::end(names);
  };
  const bool is_float = IsFloat(type) || (parts[0] == "cvt" && std::any_of(parts.begin() + 1, parts.end(), IsFloat));
  if (listed(kSpecialFunctions) || (is_float && parts[0] == "div")) {
    made.unit = Unit::kSpecial;
  } else if (listed(kArithmetic)) {
    made.unit = !is_float ? Unit::kInteger : type == "f64" ? Unit::kDouble : Unit::kFloat;
  }
  const auto row =
      std::find_if(std::begin(kActions), std::end(kActions), [&](const Row& r) { return r.name == parts[0]; });
  if (row == std::end(kActions)) return;
  made.action = row->action;
  const bool moves = row->action == Action::kMove || row->action == Action::kSelect;
  if (is_float && !moves) made.action = Action::kUnknown;
  if (row->action == Action::kMultiply && Has(parts, "hi")) made.action = Action::kMultiplyHigh;
  if (row->action == Action::kMultiplyAdd && Has(parts, "hi")) made.action = Action::kUnknown;
  made.wide = Has(parts, "wide");
  if (row->action == Action::kConvert) made.source_bits = made.bits;  // cvt.TO.FROM
  for (size_t i = parts.size(); row->action == Action::kConvert && i-- > 1;) {
    if (TypeBits(parts[i]) > 0) made.bits = static_cast<uint8_t>(TypeBits(parts[i]));
  }
  for (const auto& [name, comparison] : kComparisons) {
    if (parts.size() > 1 && parts[1] == name) made.comparison = comparison;
  }
}

}  // namespace

Instruction Decode(std::string_view opcode) {
  const Parts parts = Split(opcode);
  const std::string_view name = parts[0], type = TypeOf(parts);
  Instruction made;
  made.bits = static_cast<uint8_t>(type.empty() ? 32 : TypeBits(type));
  made.is_signed = type.starts_with('s');
  if (name == "mma" || (name == "wmma" && Has(parts, "mma")) || (name == "wgmma" && Has(parts, "mma_async"))) {
    DecodeTensor(parts, made);
  } else if (name == "ld" || name == "st" || name == "ldu" || name == "atom" || name == "red") {
    DecodeMemory(parts, made);
  } else if (name == "ldmatrix" || name == "stmatrix" || name == "wmma") {
    DecodeMatrixMove(parts, made);
  } else if (name == "cp" && (Has(parts, "ca") || Has(parts, "cg"))) {
    made.action = Action::kMemory;
    made.unit = Unit::kGlobal;
    made.is_load = made.to_shared = true;  // the size is its third operand
  } else if (name == "bar" || name == "barrier") {
    made.unit = Unit::kBarrier;
  } else {
    DecodeArithmetic(parts, type, made);
  }
  return made;
}

}  // namespace hespas::estimate::ptx
