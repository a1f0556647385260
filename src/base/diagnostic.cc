#include "base/diagnostic.h"

#include <algorithm>

namespace hespas {
namespace {

// Long source lines (constants) are cut to a window around the column.
std::string CaretLines(const Location& at) {
  constexpr size_t kWidth = 120;
  const std::string_view line = at.source_line;
  const size_t column = std::clamp<size_t>(at.column, 1, line.size() + 1) - 1;
  const size_t from = column > kWidth - 20 ? column - (kWidth - 20) : 0;
  std::string text(line.substr(from, kWidth));
  std::string pad;
  for (size_t i = 0; i < column - from && i < text.size(); ++i) pad += text[i] == '\t' ? '\t' : ' ';
  return fmt::format("    {}\n    {}^\n", text, pad);
}

}  // namespace

std::string Render(const Diagnostic& d, bool colour) {
  std::string where = d.location.file;
  if (d.location.line > 0) where += fmt::format(":{}:{}", d.location.line, d.location.column);
  if (!where.empty()) where += ": ";
  const std::string_view word = d.is_warning() ? "warning" : "error";
  std::string label = fmt::format("{}[{}]", word, d.kind->code);
  if (colour) label = fmt::format("\x1b[1;{}m{}\x1b[0m", d.is_warning() ? 33 : 31, label);
  std::string out = fmt::format("{}{}: {}\n", where, label, d.message);
  if (d.location.line > 0 && !d.location.source_line.empty()) out += CaretLines(d.location);
  if (!d.help.empty()) out += fmt::format("help: {}\n", d.help);
  return out;
}

void Diagnostics::Report(Diagnostic diagnostic) {
  if (!diagnostic.is_warning() && ++error_count_ > kErrorLimit) return;
  all_.push_back(std::move(diagnostic));
}

}  // namespace hespas
