#include "estimate/ptx/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "estimate/ptx/opcode.h"

namespace hespas::estimate::ptx {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string WithoutComments(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool line = text.substr(at, 2) == "//", block = text.substr(at, 2) == "/*";
    if (!line && !block) {
      out += text[at++];
      continue;
    }
    const size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
    if (end == std::string_view::npos) break;
    at = line ? end : end + 2;
  }
  return out;
}

// At commas outside of braces and brackets.
std::vector<std::string_view> AtCommas(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  size_t start = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c == ',' && (depth == 0 || at == text.size())) {
      items.push_back(Trim(text.substr(start, at - start)));
      start = at + 1;
    }
  }
  return items;
}

std::optional<int64_t> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0f") || text.starts_with("0d");
  if (hexadecimal) text.remove_prefix(2);
  if (text.ends_with('U')) text.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

int32_t SpecialRegister(std::string_view name) {
  constexpr std::string_view kNames[] = {"%tid", "%ntid", "%ctaid", "%nctaid"};
  if (name == "%laneid") return 12;
  for (int i = 0; i < 4; ++i) {
    if (!name.starts_with(kNames[i]) || name.size() != kNames[i].size() + 2) continue;
    const char axis = name.back();
    if (axis >= 'x' && axis <= 'z') return 3 * i + (axis - 'x');
  }
  return -1;
}

// "128, 1, 1" behind a directive.
Extent ReadExtent(std::string_view text) {
  Extent extent = {1, 1, 1};
  size_t i = 0;
  for (const std::string_view item : AtCommas(text)) {
    if (i < 3) extent[i++] = std::max<int64_t>(1, Integer(item).value_or(1));
  }
  return extent;
}

std::vector<std::string_view> AtSemicolons(std::string_view text) {
  std::vector<std::string_view> items;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    items.push_back(Trim(text.substr(at, end - at)));
    at = end + 1;
  }
  return items;
}

int BitsOfType(std::string_view type) {
  const size_t digits = type.find_first_of("0123456789");
  return digits == std::string_view::npos ? 0 : static_cast<int>(Integer(type.substr(digits)).value_or(0));
}

using Sizes = std::map<std::string, int64_t, std::less<>>;

// ".shared .align 16 .b8 name[4096]", ".extern .shared .align 16 .b8 name[]"
void ReadShared(std::string_view text, Sizes& shared) {
  const size_t open = text.find('[');
  if (text.find(".shared") == std::string_view::npos || open == std::string_view::npos) return;
  const std::string_view name = text.substr(0, open).substr(text.substr(0, open).find_last_of(kBlank) + 1);
  shared.emplace(std::string(name), Integer(text.substr(open + 1, text.find(']') - open - 1)).value_or(-1));
}

class KernelReader {
 public:
  // `shared`: the module's arrays in shared memory, by name; -1 bytes where the launch decides.
  explicit KernelReader(const Sizes& shared) : module_shared_(shared) {}

  // `signature`: between the parentheses; `body`: between the braces.
  Kernel Read(std::string_view signature, std::string_view body) {
    for (const std::string_view item : AtCommas(signature)) AddParameter(item);
    FindLabels(body);
    for (const std::string_view statement : statements_) AddStatement(statement);
    return std::move(kernel_);
  }

 private:
  void AddParameter(std::string_view text) {
    const size_t at = text.find(".param");
    if (at == std::string_view::npos) return;
    parameters_.emplace(std::string(text.substr(text.find_last_of(kBlank) + 1)), kernel_.parameter_bits.size());
    kernel_.parameter_bits.push_back(static_cast<uint8_t>(BitsOfType(Trim(text.substr(at + 6)).substr(0, 4))));
  }

  // Statements end with `;`; braces that stand where one starts open or close a scope, and names before `:` are labels.
  void FindLabels(std::string_view body) {
    size_t start = 0;
    int instructions = 0;
    for (size_t at = 0; at < body.size(); ++at) {
      const std::string_view seen = Trim(body.substr(start, at - start));
      const char c = body[at];
      if (c == ';') {
        statements_.push_back(seen);
        instructions += !seen.empty() && !seen.starts_with('.');
      } else if (c == ':' && body.substr(at + 1, 1) != ":" && seen.find_first_of(" \t[{:") == std::string_view::npos) {
        labels_.emplace(std::string(seen), instructions);
      } else if (!((c == '{' || c == '}') && seen.empty())) {
        continue;
      }
      start = at + 1;
    }
  }

  void AddStatement(std::string_view text) {
    if (text.empty()) return;
    if (text.starts_with('.')) return ReadShared(text, module_shared_);
    int32_t guard = -1;
    bool negated = false;
    if (text.starts_with('@')) {
      const size_t end = std::min(text.find_first_of(kBlank), text.size());
      negated = text.substr(1).starts_with('!');
      guard = Register(text.substr(negated ? 2 : 1, end - (negated ? 2 : 1)));
      text = Trim(text.substr(end));
    }
    const size_t end = std::min(text.find_first_of(kBlank), text.size());
    Instruction made = Decode(text.substr(0, end));
    made.guard = guard;
    made.guard_negated = negated;
    AddOperands(text.substr(0, end), Trim(text.substr(end)), made);
    kernel_.instructions.push_back(std::move(made));
  }

  void AddOperands(std::string_view opcode, std::string_view text, Instruction& made) {
    const auto items = text.empty() ? std::vector<std::string_view>() : AtCommas(text);
    if (made.action == Action::kBranch) {
      const auto found = items.empty() ? labels_.end() : labels_.find(items[0]);
      if (found != labels_.end()) made.target = found->second;
      return;
    }
    const bool has_result = !items.empty() && !items[0].starts_with('[') && made.unit != Unit::kBarrier;
    if (has_result) AddResult(items[0], made);
    for (size_t i = has_result ? 1 : 0; i < items.size(); ++i) AddReads(items[i], made);
    if (opcode.starts_with("cp.async") && items.size() > 2)
      made.bytes = static_cast<int32_t>(Integer(items[2]).value_or(16));
    if (opcode.starts_with("wmma.") && made.action == Action::kMemory) {
      made.bytes = 4 * static_cast<int32_t>(std::max<size_t>(made.writes.size(), 1));
    }
    // The address comes last, whatever stands behind it.
    std::stable_partition(made.reads.begin(), made.reads.end(), [](const Operand& o) { return !o.is_address; });
  }

  void AddResult(std::string_view text, Instruction& made) {
    if (text.starts_with('{')) text = text.substr(1, text.size() - 2);
    for (std::string_view item : AtCommas(text)) {
      for (size_t bar = item.find('|'); !item.empty(); bar = item.find('|')) {
        if (item.starts_with('%')) made.writes.push_back(Register(Trim(item.substr(0, bar))));
        item = bar == std::string_view::npos ? std::string_view() : item.substr(bar + 1);
      }
    }
  }

  void AddReads(std::string_view text, Instruction& made) {
    if (text.starts_with('{')) {
      for (const std::string_view item : AtCommas(text.substr(1, text.size() - 2))) made.reads.push_back(Value(item));
    } else if (text.starts_with('[')) {
      made.reads.push_back(Address(Trim(text.substr(1, text.size() - 2))));
    } else {
      made.reads.push_back(Value(text));
    }
  }

  Operand Address(std::string_view text) {
    text = text.substr(0, text.find(','));
    const size_t plus = text.find_first_of("+-", 1);
    Operand made = Value(Trim(text.substr(0, plus)));
    made.is_address = true;
    if (plus == std::string_view::npos) return made;
    const int64_t offset = Integer(Trim(text.substr(plus + 1))).value_or(0);
    made.value += text[plus] == '-' ? -offset : offset;
    return made;
  }

  Operand Value(std::string_view text) {
    if (const auto number = Integer(text)) return {.kind = Operand::Kind::kImmediate, .value = *number};
    if (const int32_t special = SpecialRegister(text); special >= 0) return {Operand::Kind::kSpecial, special, 0};
    if (text.starts_with('%')) return {Operand::Kind::kRegister, Register(text), 0};
    if (const auto found = parameters_.find(text); found != parameters_.end()) {
      return {Operand::Kind::kParameter, static_cast<int32_t>(found->second), 0};
    }
    if (const auto address = SharedAddress(text)) return {.kind = Operand::Kind::kImmediate, .value = *address};
    return {};
  }

  int32_t Register(std::string_view name) {
    const auto [found, added] = registers_.try_emplace(std::string(name), static_cast<int32_t>(registers_.size()));
    if (added) {
      const bool predicate = name.starts_with("%p"), wide = name.starts_with("%rd") || name.starts_with("%fd");
      kernel_.register_bits.push_back(predicate ? 0 : wide ? 64 : 32);
    }
    return found->second;
  }

  // Arrays get their place when they are first used.
  std::optional<int64_t> SharedAddress(std::string_view name) {
    const auto known = module_shared_.find(name);
    if (known == module_shared_.end()) return std::nullopt;
    if (known->second < 0) return kDynamicShared;
    const auto [place, added] = shared_.try_emplace(known->first, (kernel_.shared_bytes + 127) / 128 * 128);
    if (added) kernel_.shared_bytes = place->second + known->second;
    return place->second;
  }

  Kernel kernel_;
  Sizes module_shared_, shared_;
  std::map<std::string, size_t, std::less<>> parameters_;
  std::map<std::string, int32_t, std::less<>> registers_;
  std::map<std::string, int, std::less<>> labels_;
  std::vector<std::string_view> statements_;
};

// Where the brace that opens at `open` closes.
size_t Closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '{';
    depth -= text[at] == '}';
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

void ReadBlockSize(std::string_view directives, Kernel& kernel) {
  for (const std::string_view name : {".maxntid", ".reqntid"}) {
    const size_t at = directives.find(name);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = directives.substr(at + name.size());
    kernel.block = ReadExtent(Trim(rest.substr(0, rest.find_first_of("\n.{"))));
  }
}

}  // namespace

Result<std::vector<Kernel>> ReadPtx(std::string_view text, const std::string& file) {
  const std::string clean = WithoutComments(text);
  const std::string_view all = clean;
  std::vector<Kernel> kernels;
  Sizes shared;
  size_t at = 0;
  for (size_t entry = all.find(".entry"); entry != std::string_view::npos; entry = all.find(".entry", at)) {
    for (const std::string_view line : AtSemicolons(all.substr(at, entry - at))) ReadShared(line, shared);
    const size_t open = all.find_first_of("({", entry), close = all.find(')', entry);
    const size_t body = all.find('{', entry);
    const size_t end = body == std::string_view::npos ? body : Closing(all, body);
    if (end == std::string_view::npos) break;
    const bool has_parameters = all[open] == '(' && close < body;
    const std::string_view signature = has_parameters ? all.substr(open + 1, close - open - 1) : std::string_view();
    Kernel kernel = KernelReader(shared).Read(signature, all.substr(body + 1, end - body - 1));
    kernel.name = Trim(all.substr(entry + 6, open - entry - 6));
    ReadBlockSize(all.substr(has_parameters ? close : open, body - (has_parameters ? close : open)), kernel);
    kernels.push_back(std::move(kernel));
    at = end + 1;
  }
  if (kernels.empty()) return MakeError(kBadPtx, "no complete `.entry`", {.file = file});
  return kernels;
}

}  // namespace hespas::estimate::ptx
