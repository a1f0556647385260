#include "sweep/answer/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/text/json.h"
#include "sweep/answer/analysis.h"
#include "sweep/answer/answers.h"

namespace hespas::sweep {
namespace {

constexpr size_t kMostDrawn = 3000;  // lines that a browser moves without a pause

struct Measure {
  std::string_view column;
  std::string_view name;
  std::string_view kind;  // how the page writes a value
};
constexpr Measure kResults[] = {{"npus", "devices", "number"},
                                {"step_time_s", "step time", "time"},
                                {"units_per_second_per_device", "a second and device", "number"},
                                {"model_flops_utilisation", "MFU", "percent"},
                                {"exposed_communication_s", "exposed communication", "time"},
                                {"peak_memory_bytes", "peak memory", "bytes"},
                                {"energy_all_devices_j", "energy of a step", "energy"},
                                {"cost_per_step", "cost of a step", "number"}};

class Explorer {
 public:
  Explorer(const std::vector<Json>& rows, const std::vector<std::string>& varying) : rows_(rows) {
    for (const std::string& axis : varying) AddSetting(axis);
    for (const Measure& result : kResults) AddResult(result);
    for (const std::string_view wanted : {"device", "program"}) {
      const auto found = std::find(varying.begin(), varying.end(), wanted);
      if (found != varying.end()) colour_ = found - varying.begin();
    }
  }

  std::string Write(const std::vector<std::string>& varying) const {
    Json numbers = Json::array();
    for (const Json& row : rows_) numbers.push_back(row.at("point"));
    const std::vector<size_t> drawn = DrawnOf(rows_.size());
    Json titles = Json::array();
    for (const size_t i : drawn) titles.push_back(TitleOf(rows_[i], varying));
    return JsonText(Json{{"axes", axes_},
                         {"numbers", std::move(numbers)},
                         {"columns", columns_},
                         {"drawn", drawn},
                         {"titles", std::move(titles)},
                         {"colour", colour_}});
  }

 private:
  void AddSetting(const std::string& axis) {
    const Bins bins = BinsOf(rows_, axis, SIZE_MAX);
    axes_.push_back({{"name", axis}, {"labels", bins.labels}});
    columns_.push_back(bins.of_row);
  }

  // Results that are the same everywhere, or known of no point, tell nothing apart.
  void AddResult(const Measure& result) {
    std::vector<Json> column;
    for (const Json& row : rows_) column.push_back(ValueOf(row, std::string(result.column)));
    const auto differs = [&](const Json& value) { return value.is_number() && value != column.front(); };
    if (std::none_of(column.begin(), column.end(), differs)) return;
    axes_.push_back({{"name", result.name}, {"kind", result.kind}});
    Json values = Json::array();
    for (const Json& value : column) values.push_back(value.is_number() ? Rounded(value.get<double>()) : Json());
    columns_.push_back(std::move(values));
  }

  // As exact as a place on an axis needs, and half as long.
  static Json Rounded(double value) { return std::strtod(fmt::format("{:.8g}", value).c_str(), nullptr); }

  const std::vector<Json>& rows_;
  Json axes_ = Json::array();
  Json columns_ = Json::array();  // of each axis a value of each row
  int64_t colour_ = -1;
};

}  // namespace

std::vector<size_t> DrawnOf(size_t points) {
  const size_t stride = std::max<size_t>(1, (points + kMostDrawn - 1) / kMostDrawn);
  std::vector<size_t> drawn;
  for (size_t i = 0; i < points; i += stride) drawn.push_back(i);
  return drawn;
}

std::string TitleOf(const Json& row, const std::vector<std::string>& varying) {
  std::string title = "point " + JsonText(row.at("point")) + ": " + HumanValue("step_time_s", row["step_time_s"]);
  for (const std::string& axis : varying) title += ", " + axis + " " + ShortText(row.value(axis, Json()));
  for (const auto& [column, name] :
       {std::pair("units_per_second_per_device", " a second and device"), {"mfu", " MFU"}}) {
    const Json value = ValueOf(row, column);
    if (value.is_number()) title += ", " + HumanValue(column, value) + name;
  }
  return title;
}

std::string ExploreData(const std::vector<Json>& rows, const std::vector<std::string>& varying) {
  return Explorer(rows, varying).Write(varying);
}

}  // namespace hespas::sweep
