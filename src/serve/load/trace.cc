// Traces of requests in the forms that are published.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "base/text/json_text.h"
#include "serve/load/workload.h"
#include "serve/step.h"

namespace hespas::serve {
namespace {

constexpr const char* kHelp = "columns: arrival_s, input_tokens, output_tokens";

struct TraceForm {
  std::string_view time;
  std::string_view input;
  std::string_view output;
};

constexpr std::array<TraceForm, 5> kForms = {{
    {"arrival_s", "input_tokens", "output_tokens"},
    {"TIMESTAMP", "ContextTokens", "GeneratedTokens"},   // Azure LLM inference traces
    {"Timestamp", "Request tokens", "Response tokens"},  // BurstGPT
    {"timestamp", "input_length", "output_length"},
    {"arrival", "isl", "osl"},
}};

// Seconds: a number, or "2023-11-16 18:17:03.9799600" (fraction and zone optional; the zone is not read).
std::optional<double> SecondsOf(const std::string& cell) {
  if (const auto number = CsvNumber(cell)) return number;
  std::tm time{};
  const char* rest = strptime(cell.c_str(), "%Y-%m-%d%n%H:%M:%S", &time);
  if (!rest) rest = strptime(cell.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (!rest) return std::nullopt;
  const std::string digits = std::string("0") + rest;
  const size_t end = std::min(digits.find_first_not_of("0123456789.", 0), digits.size());
  return static_cast<double>(timegm(&time)) + CsvNumber(digits.substr(0, end)).value_or(0);
}

std::optional<int64_t> TokensOf(const std::string& cell) {
  const auto number = CsvNumber(cell);
  constexpr double kMost = 1e8;
  if (!number || *number < 1 || *number > kMost) return std::nullopt;
  return static_cast<int64_t>(*number);
}

Error BadRow(const std::string& path, size_t line, std::string message) {
  return MakeError(kBadTrace, std::move(message), {.file = path, .line = line}, kHelp);
}

Result<std::vector<Request>> FromCsv(const std::string& text, const std::string& path, const std::string& run) {
  const auto csv = ParseCsv(text, path);
  if (!csv) return csv.error();
  const auto form = std::find_if(kForms.begin(), kForms.end(), [&](const TraceForm& f) {
    return csv->Column(f.time) && csv->Column(f.input) && csv->Column(f.output);
  });
  if (form == kForms.end()) return BadRow(path, 1, "the columns are those of no trace");
  const size_t time = *csv->Column(form->time);
  const size_t input = *csv->Column(form->input);
  const size_t output = *csv->Column(form->output);
  const auto runs = csv->Column("run");
  std::set<std::string> names;
  std::vector<Request> requests;
  for (size_t i = 0; i < csv->rows.size(); ++i) {
    const auto& row = csv->rows[i];
    if (runs) names.insert(row[*runs]);
    if (runs && !run.empty() && row[*runs] != run) continue;
    const auto line = static_cast<size_t>(csv->lines[i]);
    const auto at = SecondsOf(row[time]);
    const auto in = TokensOf(row[input]);
    if (!at) return BadRow(path, line, fmt::format("`{}` is no time", row[time]));
    if (!in) return BadRow(path, line, fmt::format("`{}` is no length of a prompt", row[input]));
    if (row[output] == "0") continue;  // BurstGPT's failed requests
    const auto out = TokensOf(row[output]);
    if (!out) return BadRow(path, line, fmt::format("`{}` is no length of an answer", row[output]));
    requests.push_back({.arrival = *at, .input = *in, .output = *out});
  }
  const bool several = runs && (run.empty() ? names.size() > 1 : !names.contains(run));
  if (!several) return requests;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return MakeError(kBadTrace, "the trace has several runs", {.file = path}, "choose one with --trace-run: " + list);
}

Result<std::vector<Request>> FromJsonLines(const std::string& text, const std::string& path) {
  std::vector<Request> requests;
  size_t line = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string row = text.substr(begin, end - begin);
    begin = end + 1;
    ++line;
    if (row.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto json = ParseJson(row, path);
    if (!json) return BadRow(path, line, "the line is no JSON object");
    const auto number = [&](const char* key) -> std::optional<double> {
      if (!json->is_object() || !json->contains(key) || !(*json)[key].is_number()) return std::nullopt;
      return (*json)[key].get<double>();
    };
    const auto at = number("timestamp");
    const auto in = number("input_length");
    const auto out = number("output_length");
    constexpr double kMost = 1e8;
    if (!at || !in || !out || !(*in >= 1 && *in <= kMost && *out >= 1 && *out <= kMost))
      return BadRow(path, line, "timestamp, input_length or output_length is missing or out of range");
    constexpr double kMilliseconds = 1e-3;
    requests.push_back(
        {.arrival = *at * kMilliseconds, .input = static_cast<int64_t>(*in), .output = static_cast<int64_t>(*out)});
  }
  return requests;
}

}  // namespace

Result<std::vector<Request>> ReadTrace(const std::string& path, const std::string& run) {
  const auto text = ReadInput(path);
  if (!text) return text.error();
  const size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return MakeError(kBadTrace, "the trace is empty", {.file = path}, kHelp);
  const bool json = (*text)[first] == '{';
  auto requests = json ? FromJsonLines(*text, path) : FromCsv(*text, path, run);
  if (!requests) return requests.error();
  if (requests->empty()) return MakeError(kBadTrace, "the trace has no request", {.file = path}, kHelp);
  std::stable_sort(requests->begin(), requests->end(),
                   [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  const double start = requests->front().arrival;
  for (Request& request : *requests) request.arrival = OnGrid(request.arrival - start);
  return requests;
}

}  // namespace hespas::serve
