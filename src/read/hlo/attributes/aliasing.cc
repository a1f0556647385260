#include "read/hlo/attributes/aliasing.h"

#include "read/hlo/attributes/attributes.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

bool ReadPlace(Scanner& scan, std::vector<int64_t>& place) {
  scan.SkipBlanks();
  const auto read = Integers(scan.Balanced());
  if (!read) return false;
  place = *read;
  return true;
}

// `(1, {}, may-alias)`; the kind may be missing.
bool ReadSource(Scanner& scan, AliasEntry& entry) {
  if (!scan.Take('(')) return false;
  scan.SkipBlanks();
  const size_t begin = scan.position();
  while (scan.peek() >= '0' && scan.peek() <= '9') scan.Seek(scan.position() + 1);
  const auto number = Integers("{" + std::string(scan.slice(begin, scan.position())) + "}");
  if (!number || number->size() != 1) return false;
  entry.input = number->front();
  if (scan.Take(',') && !ReadPlace(scan, entry.index)) return false;
  if (scan.Take(',') && scan.Name().empty()) return false;
  return scan.Take(')');
}

std::optional<std::vector<AliasEntry>> Parse(std::string_view text, bool outputs) {
  Scanner scan(text);
  std::vector<AliasEntry> out;
  if (!scan.Take('{')) return std::nullopt;
  if (scan.Take('}')) return out;
  do {
    AliasEntry& entry = out.emplace_back();
    if (outputs && (!ReadPlace(scan, entry.output) || !scan.Take(':'))) return std::nullopt;
    if (!ReadSource(scan, entry)) return std::nullopt;
  } while (scan.Take(','));
  return scan.Take('}') ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<AliasEntry>> ParseAliases(std::string_view text) { return Parse(text, true); }
std::optional<std::vector<AliasEntry>> ParseDonors(std::string_view text) { return Parse(text, false); }

std::optional<ShapeId> ShapeAt(const ShapeTable& shapes, ShapeId shape, const std::vector<int64_t>& place) {
  for (const int64_t i : place) {
    const Shape& at = shapes[shape];
    if (!at.is_tuple || i < 0 || i >= int64_t{at.child_count}) return std::nullopt;
    shape = shapes.child(shape, static_cast<size_t>(i));
  }
  return shape;
}

}  // namespace hespas::read::hlo
