#include "report/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text/json.h"

namespace hespas::report {
namespace {

constexpr size_t kScreenWidth = 80;

// Code points, so that a column with an umlaut or a micro sign stays aligned.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<size_t> Widths(const Table& table) {
  std::vector<size_t> widths;
  for (const Column& column : table.columns) widths.push_back(Width(column.name));
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  return widths;
}

std::string Line(const Table& table, const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string pad(widths[i] - Width(cells[i]), ' ');
    line += i > 0 ? "  " : "";
    line += table.columns[i].align == Align::kRight ? pad + cells[i] : cells[i] + pad;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

std::vector<std::string> Names(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

std::string Scaled(double value, std::string_view unit, double step, const char* const* prefixes, size_t count) {
  size_t k = 0;
  double magnitude = std::abs(value);
  while (k + 1 < count && magnitude >= 0.9995 * step) {
    magnitude /= step;
    value /= step;
    ++k;
  }
  const int digits = magnitude >= 99.95 || (k == 0 && value == std::floor(value)) ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", value, digits, prefixes[k], unit);
}

nlohmann::ordered_json AsObject(const Table& table, const std::vector<std::string>& row) {
  nlohmann::ordered_json object;
  for (size_t i = 0; i < row.size(); ++i) {
    const auto number = ReadOrderedJson(row[i]);
    object[table.columns[i].name] = number.is_number() ? number : nlohmann::ordered_json(row[i]);
  }
  return object;
}

constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};

}  // namespace

std::string ToText(const Table& table) {
  const std::vector<size_t> widths = Widths(table);
  std::string out = Line(table, Names(table), widths);
  for (const auto& row : table.rows) out += Line(table, row, widths);
  return out;
}

std::string ToMarkdown(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out = "|";
    for (std::string cell : cells) {
      for (size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, "\\");
      out += " " + cell + " |";
    }
    return out + "\n";
  };
  std::string out = line(Names(table)) + "|";
  for (const Column& column : table.columns) out += column.align == Align::kRight ? "---:|" : "---|";
  out += "\n";
  for (const auto& row : table.rows) out += line(row);
  return out;
}

std::string ToCsv(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string cell = cells[i];
      if (cell.find_first_of(",\"\n\r") != std::string::npos) {
        for (size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2) cell.insert(at, "\"");
        cell = "\"" + cell + "\"";
      }
      out += (i > 0 ? "," : "") + cell;
    }
    return out + "\n";
  };
  std::string out = line(Names(table));
  for (const auto& row : table.rows) out += line(row);
  return out;
}

std::string ToJson(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) rows.push_back(AsObject(table, row));
  return JsonText(rows, 2) + "\n";
}

std::string ToJsonLines(const Table& table) {
  std::string out;
  for (const auto& row : table.rows) {
    out += JsonText(AsObject(table, row)) + "\n";
  }
  return out;
}

std::string Wrapped(const std::string& text) {
  std::string out;
  size_t used = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (used > 0 && used + 1 + word.size() > kScreenWidth) {
      out += '\n';
      used = 0;
    }
    out += (used > 0 ? " " : "") + word;
    used += word.size() + (used > 0 ? 1 : 0);
  }
  return out + "\n";
}

std::string HumanTime(Time time) {
  constexpr std::array kUnits = {"ps", "ns", "us", "ms", "s"};
  return Scaled(static_cast<double>(time.value), "", 1000, kUnits.data(), kUnits.size());
}

std::string HumanBytes(Bytes bytes) {
  return Scaled(static_cast<double>(bytes.value), "B", 1000, kPrefixes.data(), kPrefixes.size());
}

std::string HumanFlops(Flops flops) {
  return Scaled(static_cast<double>(flops.value), "FLOP", 1000, kPrefixes.data(), kPrefixes.size());
}

std::string HumanPercent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

}  // namespace hespas::report
