#include "report/text/program/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace hespas::report {
namespace {

using nlohmann::ordered_json;

std::string Number(int64_t value) { return fmt::format("{}", value); }

std::string GroupText(const CollectiveWorkRow& row) {
  std::vector<std::string> groups;
  for (const auto& group : row.groups) groups.push_back(fmt::format("{{{}}}", fmt::join(group, ",")));
  return fmt::format("{{{}}}", fmt::join(groups, ","));
}

std::string Trips(const LoopRow& row) { return row.trip_count ? Number(*row.trip_count) : ""; }

ordered_json CollectivesJson(const Profile& profile) {
  ordered_json out = ordered_json::array();
  for (const CollectiveWorkRow& row : profile.collectives) {
    out.push_back({{"op", row.op},
                   {"executed", row.executed},
                   {"bytes", row.bytes},
                   {"group_size", row.group_size},
                   {"groups", row.groups}});
  }
  return out;
}

ordered_json CallsJson(const Profile& profile) {
  ordered_json out = ordered_json::array();
  for (const CallRow& row : profile.calls) {
    out.push_back({{"caller", row.caller}, {"callee", row.callee}, {"calls", row.calls}, {"executed", row.executed}});
  }
  return out;
}

ordered_json LoopsJson(const Profile& profile) {
  ordered_json out = ordered_json::array();
  for (const LoopRow& row : profile.loops) {
    ordered_json loop = {
        {"function", row.function}, {"line", nullptr}, {"trip_count", nullptr}, {"executed", row.executed}};
    if (row.line > 0) loop["line"] = row.line;
    if (row.trip_count) loop["trip_count"] = *row.trip_count;
    out.push_back(std::move(loop));
  }
  return out;
}

}  // namespace

std::string ToJsonMembers(const Profile& profile) {
  ordered_json out = {{"flops", profile.flops}, {"bytes", profile.bytes}, {"work", ordered_json::array()}};
  for (const WorkRow& row : profile.work) {
    out["work"].push_back({{"op", row.op}, {"executed", row.executed}, {"flops", row.flops}, {"bytes", row.bytes}});
  }
  out["collectives"] = CollectivesJson(profile);
  out["constants"] = {{"count", profile.constants.count},
                      {"bytes", profile.constants.bytes},
                      {"text_bytes", profile.constants.text_bytes},
                      {"share_of_ops", profile.constants.of_ops},
                      {"share_of_file", profile.constants.of_file}};
  out["call_graph"] = CallsJson(profile);
  out["loops"] = LoopsJson(profile);
  const std::string text = JsonText(out);
  return text.substr(1, text.size() - 2);
}

Table WorkTable(const Profile& profile) {
  Table table{{{"op"}, {"executed", Align::kRight}, {"flops", Align::kRight}, {"bytes", Align::kRight}}, {}};
  for (const WorkRow& row : profile.work) {
    table.rows.push_back({row.op, Number(row.executed), Number(row.flops), Number(row.bytes)});
  }
  return table;
}

Table CollectiveTable(const Profile& profile) {
  Table table{
      {{"op"}, {"executed", Align::kRight}, {"bytes", Align::kRight}, {"group_size", Align::kRight}, {"groups"}}, {}};
  for (const CollectiveWorkRow& row : profile.collectives) {
    table.rows.push_back({row.op, Number(row.executed), Number(row.bytes), Number(row.group_size), GroupText(row)});
  }
  return table;
}

Table ConstantTable(const Profile& profile) {
  const ConstantShare& of = profile.constants;
  return {{{"count", Align::kRight},
           {"bytes", Align::kRight},
           {"text_bytes", Align::kRight},
           {"share_of_ops", Align::kRight},
           {"share_of_file", Align::kRight}},
          {{Number(of.count), Number(of.bytes), Number(of.text_bytes), fmt::format("{:.4f}", of.of_ops),
            fmt::format("{:.4f}", of.of_file)}}};
}

Table CallTable(const Profile& profile) {
  Table table{{{"caller"}, {"callee"}, {"calls", Align::kRight}, {"executed", Align::kRight}}, {}};
  for (const CallRow& row : profile.calls) {
    table.rows.push_back({row.caller, row.callee, Number(row.calls), Number(row.executed)});
  }
  return table;
}

Table LoopTable(const Profile& profile) {
  Table table{{{"function"}, {"line", Align::kRight}, {"trip_count", Align::kRight}, {"executed", Align::kRight}}, {}};
  for (const LoopRow& row : profile.loops) {
    table.rows.push_back({row.function, row.line > 0 ? Number(row.line) : "", Trips(row), Number(row.executed)});
  }
  return table;
}

}  // namespace hespas::report
