#include "report/page/html_text.h"

#include <fmt/format.h>

namespace hespas::report {

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

// Nothing in a script element may look like its end.
std::string DataScript(std::string_view id, std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, text);
}

std::string ToHtml(const Table& table) {
  const auto line = [&](const std::vector<std::string>& cells, std::string_view tag) {
    std::string html = "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool right = table.columns[i].align == Align::kRight;
      const std::string_view scope = tag == "th" ? " scope=\"col\"" : "";
      html += fmt::format("<{0}{1}{2}>{3}</{0}>", tag, scope, right ? " class=\"number\"" : "", EscapeHtml(cells[i]));
    }
    return html + "</tr>\n";
  };
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  std::string html = "<table>\n<thead>" + line(names, "th") + "</thead>\n<tbody>\n";
  for (const auto& row : table.rows) html += line(row, "td");
  return html + "</tbody></table>\n";
}

std::string FillTemplate(std::string_view page, std::span<const std::pair<std::string_view, std::string>> parts) {
  std::string out;
  for (const auto& [mark, text] : parts) {
    const size_t at = page.find(mark);
    if (at == std::string_view::npos) continue;
    out += page.substr(0, at);
    out += text;
    page.remove_prefix(at + mark.size());
  }
  return out.append(page);
}

}  // namespace hespas::report
