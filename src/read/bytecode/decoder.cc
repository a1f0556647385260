#include "read/bytecode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "read/bytecode/payloads.h"

namespace hespas::read::bytecode {
namespace {

constexpr size_t kMaximumDepth = 200;
constexpr size_t kGrowth = 64;
constexpr size_t kSmallText = size_t{1} << 24;

struct Dialect {
  std::string_view name;
  std::string (*attribute)(uint64_t, ByteReader&, Decoder&);
  ir::Type (*type)(uint64_t, ByteReader&, Decoder&);
};

constexpr Dialect kDialects[] = {
    {"builtin", BuiltinAttribute, BuiltinType},
    {"vhlo", VhloAttribute, VhloType},
    {"stablehlo", StableHloAttribute, StableHloType},
    {"chlo", ChloAttribute, nullptr},
    {"sdy", SdyAttribute, nullptr},
};

const Dialect* FindDialect(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kDialects), std::end(kDialects), [&](const auto& d) { return d.name == name; });
  return found == std::end(kDialects) ? nullptr : found;
}

bool IsBareName(std::string_view name) {
  const auto part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
  };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && name[0] != '$' && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), part);
}

}  // namespace

ir::Type ScalarType(ir::ElementKind kind, uint16_t bits) {
  ir::Type type;
  type.kind = ir::TypeKind::kScalar;
  type.element.kind = kind;
  type.element.bits = bits;
  return type;
}

ir::Type ShapedType(ir::TypeKind kind, const ir::Type& element, std::vector<int64_t> dims) {
  ir::Type type;
  type.kind = kind;
  type.dims = std::move(dims);
  for (int64_t& d : type.dims) d = d < 0 ? ir::kDynamic : d;
  type.element = element.element;
  if (element.kind != ir::TypeKind::kScalar) {
    type.element.kind = ir::ElementKind::kOpaque;
    type.element.text = element.text;
  }
  return type;
}

std::string QuotedText(std::string_view characters) {
  std::string out = "\"";
  for (const char c : characters) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '"' || byte < 0x20 || byte > 0x7E) {
      out += fmt::format("\\{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string SymbolText(std::string_view name) {
  return "@" + (IsBareName(name) ? std::string(name) : QuotedText(name));
}

std::string KeyText(std::string_view name) { return IsBareName(name) ? std::string(name) : QuotedText(name); }

std::string Unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"') return std::string(text);
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\' || i + 2 >= text.size()) {
      out += text[i];
    } else if (text[i + 1] == '\\') {
      out += text[++i];
    } else {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    }
  }
  return out;
}

Decoder::Decoder(std::string_view bytes, const Container& container, ir::Module& module, TextArena& arena,
                 Failure& failure)
    : bytes_(bytes),
      container_(container),
      module_(module),
      arena_(arena),
      failure_(failure),
      attributes_(container.attributes.size()),
      known_attributes_(container.attributes.size()),
      types_(container.types.size()),
      budget_(kSmallText + kGrowth * bytes.size()) {}

void Decoder::Fail(const DiagnosticKind& kind, std::string message) {
  if (ok()) failure_ = {&kind, std::move(message), 0};
}

// Attributes and types refer to each other by number, so a damaged file can nest them without end.
bool Decoder::Enter() {
  if (++depth_ > kMaximumDepth) Fail(kLimit, "attributes or types nest too deep, or in a cycle");
  return ok();
}

std::string Decoder::OpaqueText(char sigil, const Entry& entry) {
  const std::string_view payload = bytes_.substr(entry.offset, entry.size);
  return fmt::format("{}{}<{}>", sigil, container_.dialects[entry.dialect], QuotedText(payload));
}

std::string Decoder::DecodeAttribute(const Entry& entry) {
  ByteReader reader = Payload(entry);
  if (!entry.is_encoded) return std::string(reader.CString());
  const Dialect* dialect = FindDialect(container_.dialects[entry.dialect]);
  if (dialect == nullptr) return OpaqueText('#', entry);
  return dialect->attribute(reader.Varint(), reader, *this);
}

std::string_view Decoder::Attribute(uint64_t index) {
  if (index >= attributes_.size()) {
    Fail(kMalformed, fmt::format("attribute {} does not exist", index));
    return {};
  }
  if (known_attributes_[index]) return attributes_[index];
  if (!Enter()) return {};
  const std::string text = DecodeAttribute(container_.attributes[index]);
  --depth_;
  if (text.size() > budget_) Fail(kLimit, "the attributes expand without bound");
  if (!ok()) return {};
  budget_ -= text.size();
  known_attributes_[index] = 1;
  attributes_[index] = arena_.Copy(text);
  return attributes_[index];
}

ir::Type Decoder::DecodeType(const Entry& entry) {
  ByteReader reader = Payload(entry);
  const Dialect* dialect = FindDialect(container_.dialects[entry.dialect]);
  if (entry.is_encoded && dialect != nullptr && dialect->type != nullptr)
    return dialect->type(reader.Varint(), reader, *this);
  ir::Type type;
  type.kind = ir::TypeKind::kOpaque;
  type.text = entry.is_encoded ? OpaqueText('!', entry) : std::string(reader.CString());
  return type;
}

ir::TypeId Decoder::Type(uint64_t index) {
  if (index >= types_.size()) {
    Fail(kMalformed, fmt::format("type {} does not exist", index));
    return types().Intern({});
  }
  if (types_[index].valid()) return types_[index];
  if (!Enter()) return types().Intern({});
  ir::Type type = DecodeType(container_.types[index]);
  --depth_;
  if (!ok()) return types().Intern({});
  types_[index] = types().Intern(std::move(type));
  return types_[index];
}

// A dictionary is read as such, not from its text; anything else is a defect.
std::vector<NamedText> Decoder::Dictionary(uint64_t index) {
  std::vector<NamedText> out;
  constexpr uint64_t kDictionaryCode = 1;
  if (index >= container_.attributes.size()) {
    Fail(kMalformed, fmt::format("attribute {} does not exist", index));
    return out;
  }
  const Entry& entry = container_.attributes[index];
  ByteReader reader = Payload(entry);
  if (!entry.is_encoded || container_.dialects[entry.dialect] != "builtin" || reader.Varint() != kDictionaryCode) {
    Fail(kMalformed, "the attributes of an operation are no dictionary");
    return out;
  }
  const size_t count = reader.Count();
  for (size_t i = 0; i < count && ok(); ++i) {
    const std::string_view name = Attribute(reader.Varint());
    const std::string_view text = Attribute(reader.Varint());
    const bool plain = name.size() >= 2 && name.find('\\') == std::string_view::npos && name.front() == '"';
    out.push_back({plain ? name.substr(1, name.size() - 2) : name, text});
  }
  return out;
}

}  // namespace hespas::read::bytecode
