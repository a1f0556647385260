// The specification's constraints, one by one: each program of tests/data/verify/constraints.txt breaks one of them and
// is refused at its op; the program it was made from is read. scripts/verifier_table.py makes
// docs/reference/verifier.md of the same file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/system/file.h"
#include "read/read.h"

namespace hespas {
namespace {

using Parts = std::map<std::string, std::string>;

struct Variant {
  size_t line = 0;
  std::string constraint;          // "C3", or "ok"
  std::vector<std::string> codes;  // one of which is expected; none where the program is right
  Parts parts;                     // instead of the section's own
};

// The ops of one header, the program with its `$parts`, and the variants of those parts.
struct Section {
  std::vector<std::string> ops;
  std::vector<std::string> program;
  Parts parts;
  std::vector<Variant> variants;
};

std::string Stripped(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> Split(const std::string& text, const std::string& separator) {
  std::vector<std::string> items;
  size_t at = 0;
  for (size_t next = 0; (next = text.find(separator, at)) != std::string::npos; at = next + separator.size()) {
    items.push_back(text.substr(at, next - at));
  }
  items.push_back(text.substr(at));
  return items;
}

void SetPart(const std::string& text, Parts& parts) {
  const size_t equals = text.find(" =");
  parts[Stripped(text.substr(0, equals))] = Stripped(text.substr(equals + 2));
}

// "name = text" with a name of letters and digits.
bool IsPart(const std::string& line) {
  const size_t equals = line.find(" =");
  return equals != std::string::npos && equals > 0 &&
         std::all_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(equals),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

// "C3 E0403,E0405 why it is wrong | part = text | ..." or "ok  what it shows | part = text".
std::optional<Variant> AsVariant(const std::string& line, size_t number) {
  const std::vector<std::string> items = Split(line, " | ");
  std::istringstream words(items[0]);
  Variant variant{.line = number};
  std::string codes;
  words >> variant.constraint >> codes;
  const bool right = variant.constraint == "ok";
  if (!right && !codes.starts_with("E0")) return std::nullopt;
  if (!right) variant.codes = Split(codes, ",");
  for (size_t i = 1; i < items.size(); ++i) SetPart(items[i], variant.parts);
  return variant;
}

std::vector<Section> Sections() {
  const auto text = ReadInput(std::string(HESPAS_SOURCE_DIR) + "/tests/data/verify/constraints.txt");
  EXPECT_TRUE(text.ok());
  std::vector<Section> sections;
  size_t number = 0;
  for (const std::string& line : Split(text ? *text : "", "\n")) {
    ++number;
    if (line.empty() || line.starts_with("# ") || line.starts_with("-- ")) continue;
    if (line.starts_with("== ")) {
      std::istringstream names(line.substr(3, line.find(':') - 3));
      sections.emplace_back();
      for (std::string name; names >> name;) sections.back().ops.push_back(name);
      sections.back().variants.push_back({.line = number, .constraint = "ok"});
    } else if (auto variant = AsVariant(line, number)) {
      sections.back().variants.push_back(*std::move(variant));
    } else if (IsPart(line)) {
      SetPart(line, sections.back().parts);
    } else {
      sections.back().program.push_back(line);
    }
  }
  return sections;
}

// Puts the parts in, which may hold parts themselves.
std::string Filled(std::string text, const Parts& parts) {
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) {
    size_t end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const auto part = parts.find(text.substr(at + 1, end - at - 1));
    if (part == parts.end()) {
      ADD_FAILURE() << "no part " << text.substr(at, end - at);
      return text;
    }
    text.replace(at, end - at, part->second);
  }
  return text;
}

// A section that starts with arguments is the body of a function.
std::string Program(const Section& section, const Variant& variant, const std::string& op) {
  const bool body = section.program[0].starts_with('(');
  std::string text = body ? "func.func @main" : "";
  for (const std::string& line : section.program) text += line + (body && &line == &section.program[0] ? " {\n" : "\n");
  if (body) text += "return\n}\n";
  Parts parts = variant.parts;
  parts.emplace("op", op);
  for (const auto& [name, value] : variant.parts) EXPECT_TRUE(section.parts.contains(name)) << name;
  for (const auto& [name, value] : section.parts) parts.emplace(name, value);
  return Filled(text, parts);
}

void Check(const Section& section, const Variant& variant, const std::string& op) {
  const std::string program = Program(section, variant, op);
  SCOPED_TRACE(op + " " + variant.constraint + ", line " + std::to_string(variant.line) + "\n" + program);
  Diagnostics diagnostics;
  const auto module = read::ReadText("case.mlir", program, {}, diagnostics);
  if (variant.codes.empty()) {
    EXPECT_TRUE(module.ok()) << Render(module.error());
    return;
  }
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(variant.codes, testing::Contains(module.error().kind->code)) << Render(module.error());
  EXPECT_GT(module.error().location.column, 0u);
  // Text that cannot be read may cause further errors; a broken constraint is one defect.
  const bool syntax = std::string_view(module.error().kind->code).starts_with("E01");
  EXPECT_TRUE(syntax || diagnostics.error_count() == 1) << Render(diagnostics.all()[1]);
}

TEST(Constraints, AreHeldOneByOne) {
  const std::vector<Section> sections = Sections();
  EXPECT_GT(sections.size(), 80u);
  for (const Section& section : sections) {
    for (const Variant& variant : section.variants) {
      for (const std::string& op : section.ops) Check(section, variant, op);
    }
  }
}

}  // namespace
}  // namespace hespas
