#include "cli/format.h"

namespace hespas::cli {

std::string RenderTable(const report::Table& table, Format format) {
  switch (format) {
    case Format::kTable:
      return report::ToText(table);
    case Format::kJson:
      return report::ToJson(table);
    case Format::kJsonLines:
      return report::ToJsonLines(table);
    case Format::kCsv:
      return report::ToCsv(table);
    case Format::kMarkdown:
      return report::ToMarkdown(table);
  }
  return {};
}

}  // namespace hespas::cli
