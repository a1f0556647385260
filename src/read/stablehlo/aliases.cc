#include "read/stablehlo/aliases.h"

#include <cstring>

namespace hespas::read {

std::string_view AliasName(const char* p) {
  const char* start = p++;
  if (!IsLetter(*p) && !IsDigit(*p)) return {};
  while (IsIdent(*p)) {
    if (*p == '.') return {};
    ++p;
  }
  if (*p == '<') return {};
  return {start, static_cast<size_t>(p - start)};
}

size_t AliasTable::Collect(std::string_view text) {
  size_t lines = 0;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    if (*p == '#' || *p == '!') {
      const std::string_view name = AliasName(p);
      const char* q = name.data() + name.size();
      while (!name.empty() && (*q == ' ' || *q == '\t')) ++q;
      if (!name.empty() && *q == '=') {
        Add(name, static_cast<size_t>(p - text.data()), static_cast<size_t>(q + 1 - text.data()));
      }
    }
    ++lines;
    const void* newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
    if (!newline) break;
    p = static_cast<const char*>(newline) + 1;
  }
  return lines;
}

}  // namespace hespas::read
