// Plain tables for a terminal, CSV, Markdown and JSON lines, from one description.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace hespas::report {

enum class Align { kLeft, kRight };

struct Column {
  std::string name;
  Align align = Align::kLeft;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // one cell per column
};

std::string ToText(const Table& table);       // columns padded, two spaces apart
std::string ToMarkdown(const Table& table);   // pipes in cells escaped
std::string ToCsv(const Table& table);        // RFC 4180 quoting
std::string ToJson(const Table& table);       // an array of objects; cells that are numbers become numbers
std::string ToJsonLines(const Table& table);  // the same objects, one a line

// Lines of a screen's width, 80 characters, each with its end.
std::string Wrapped(const std::string& text);

// Numbers as a person reads them: "59.9 ms", "1.24 GB", "16.7 TFLOP"; three significant digits.
std::string HumanTime(Time time);
std::string HumanBytes(Bytes bytes);
std::string HumanFlops(Flops flops);
std::string HumanPercent(double fraction);

}  // namespace hespas::report
