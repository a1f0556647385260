#include "sweep/answer/row.h"

#include "base/text/json.h"

namespace hespas::sweep {

Json ToJson(const Row& row, const Economy& economy) {
  Json out = Json::object();
  out["point"] = row.point;
  for (const auto& [name, value] : row.settings) out[name] = value;
  const bool failed = !row.error.empty();
  AddColumns(failed ? nullptr : &row.result, economy, out);
  out["error"] = failed ? Json(row.error) : Json();
  out["message"] = failed ? Json(row.message) : Json();
  return out;
}

std::string JsonLine(const Row& row, const Economy& economy) { return JsonText(ToJson(row, economy)) + "\n"; }

Json ValueOf(const Json& row, const std::string& name) {
  if (const auto found = row.find(name); found != row.end()) return *found;
  const auto column = ColumnCalled(name);
  return column && row.contains(*column) ? row[*column] : Json();
}

}  // namespace hespas::sweep
