#include "base/text/csv_text.h"

#include <charconv>
#include <cmath>

namespace hespas {
namespace {

struct Reader {
  std::string_view text;
  size_t at = 0;
  int line = 1;
  bool unclosed = false;

  bool done() const { return at >= text.size(); }

  std::string Quoted() {
    std::string cell;
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"') {
        if (at + 1 >= text.size() || text[at + 1] != '"') break;
        ++at;
      }
      if (text[at] == '\n') ++line;
      cell += text[at];
    }
    unclosed = unclosed || at >= text.size();
    ++at;
    return cell;
  }

  // One line of cells; leaves `at` behind its line break.
  std::vector<std::string> Row() {
    std::vector<std::string> cells(1);
    bool fresh = true;  // at the start of a cell
    while (at < text.size() && text[at] != '\n') {
      if (text[at] == '"' && fresh) {
        cells.back() = Quoted();
      } else if (text[at] == ',') {
        cells.emplace_back();
        ++at;
        fresh = true;
        continue;
      } else if (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] == '\n')) {
        ++at;
      } else {
        cells.back() += text[at++];
      }
      fresh = false;
    }
    ++at;
    ++line;
    return cells;
  }
};

bool IsBlank(const std::vector<std::string>& cells) { return cells.size() == 1 && cells[0].empty(); }

}  // namespace

std::optional<size_t> CsvTable::Column(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == name) return i;
  }
  return std::nullopt;
}

Result<CsvTable> ParseCsv(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Reader reader{.text = text};
  CsvTable table;
  table.columns = reader.Row();
  if (IsBlank(table.columns)) return MakeError(kCsvSyntax, "no line of column names", {.file = file, .line = 1});
  while (!reader.done() && !reader.unclosed) {
    const int line = reader.line;
    auto cells = reader.Row();
    if (IsBlank(cells)) continue;
    if (cells.size() > table.columns.size()) {
      return MakeError(kCsvSyntax, fmt::format("{} cells under {} column names", cells.size(), table.columns.size()),
                       {.file = file, .line = static_cast<size_t>(line)}, "quote cells that contain a comma");
    }
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
    table.lines.push_back(line);
  }
  if (reader.unclosed) {
    return MakeError(kCsvSyntax, "a quoted cell is not closed",
                     {.file = file, .line = static_cast<size_t>(table.lines.empty() ? 1 : table.lines.back())});
  }
  return table;
}

std::optional<double> CsvNumber(std::string_view cell) {
  while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
  while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace hespas
