#include "cli/help/help_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace hespas::cli {
namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kDescriptions = 30;  // column where CLI11 puts them

// Where a line's continuation begins.
size_t Indent(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  const size_t gap = line.find("  ", std::min(first, line.size()));
  const size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (first == 2 && second != std::string_view::npos && second <= kDescriptions) return second;
  return first == 2 && line.starts_with("  -") ? kDescriptions : first;
}

void AddWrapped(std::string_view line, size_t columns, std::string& out) {
  const size_t indent = std::min(Indent(line), columns / 2);
  size_t margin = 0;                           // already written
  size_t least = line.find_first_not_of(' ');  // no break before the first word
  while (margin + line.size() > columns) {
    const size_t end = line.rfind(' ', columns - margin);
    if (end == std::string_view::npos || end <= least) break;  // one long word
    out.append(line.substr(0, end)).append("\n").append(indent, ' ');
    line.remove_prefix(end + 1);
    margin = indent;
    least = 0;
  }
  out.append(line).append("\n");
}

}  // namespace

size_t TerminalColumns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col < kNarrowest ? 0 : size.ws_col;
}

std::string Wrapped(std::string_view help, size_t columns) {
  if (columns == 0) return std::string(help);
  std::string out;
  while (!help.empty()) {
    const size_t end = std::min(help.find('\n'), help.size());
    const std::string_view line = help.substr(0, end);
    if (line.size() <= columns || line.starts_with("  hespas ")) {
      out.append(line).append("\n");
    } else {
      AddWrapped(line, columns, out);
    }
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return out;
}

}  // namespace hespas::cli
