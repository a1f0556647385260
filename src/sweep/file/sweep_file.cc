#include "sweep/file/sweep_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/schema_version.h"
#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/suggest.h"
#include "driver/configuration/changes.h"
#include "sweep/file/ranges.h"

namespace hespas::sweep {
namespace {

const std::vector<std::string> kKeys = {"$schema",  kSchemaVersionKey, "name",       "base",   "axes",
                                        "zip",      "filter",          "sample",     "tokens", "constraints",
                                        "minimise", "prices",          "description"};

class Reader {
 public:
  Reader(const SweepSource& source, SweepFile& file, Diagnostics& diagnostics)
      : source_(source), root_(source.root()), file_(file), diagnostics_(diagnostics) {}

  void Read() {
    if (!root_.is_object()) return Report(kBadSweep, "a sweep is a map of `base`, `axes` and further keys", {});
    for (const auto& [key, value] : root_.items()) {
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
        Report(kBadSweep, fmt::format("unknown key `{}`", key), {key},
               DidYouMean(key, kKeys, fmt::format("the keys are {}", fmt::join(kKeys, ", "))));
    }
    if (auto fault = SchemaVersionFault(root_, 1)) Report(kJsonBadValue, *std::move(fault), {kSchemaVersionKey});
    ReadBase();
    ReadAxes();
    ReadZips();
    ReadSample();
    ReadConditions("filter", file_.filters);
    ReadConditions("constraints", file_.constraints);
    ReadGoal();
    if (diagnostics_.has_errors()) return;
    CheckNames();
    CheckValues();
  }

 private:
  void Report(const DiagnosticKind& kind, std::string message, const std::vector<std::string>& path,
              std::string help = {}) {
    diagnostics_.Report({&kind, std::move(message), source_.At(path), std::move(help)});
  }
  void Report(const Error& error, const std::vector<std::string>& path) {
    Report(*error.kind, error.message, path, error.help);
  }

  const Json* Object(const std::string& key) {
    const auto found = root_.find(key);
    if (found == root_.end() || found->is_null()) return nullptr;
    if (found->is_object()) return &*found;
    Report(kBadSweep, fmt::format("`{}` must be a map", key), {key});
    return nullptr;
  }

  void ReadBase() {
    if (const Json* base = Object("base")) {
      for (const auto& [name, value] : base->items()) file_.base.emplace_back(name, value);
    }
  }

  void ReadAxes() {
    const Json* axes = Object("axes");
    if (axes == nullptr) return;
    for (const auto& [name, value] : axes->items()) {
      Axis axis{.name = name, .values = {}, .range = {}};
      if (value.is_array()) {
        axis.values.assign(value.begin(), value.end());
      } else if (value.is_object() && value.contains("from")) {
        auto range = ReadRange(name, value);
        if (!range) {
          Report(range.error(), {"axes", name});
          continue;
        }
        axis = *std::move(range);
      } else {
        axis.values = {value};
      }
      if (axis.values.empty() && !axis.range)
        Report(kEmptySweep, fmt::format("the axis `{}` has no values, so the product is empty", name), {"axes", name});
      for (const auto& [other, fixed] : file_.base) {
        if (other == name) Report(kBadSweep, fmt::format("`{}` is in `base` and varies, too", name), {"axes", name});
      }
      file_.axes.push_back(std::move(axis));
    }
  }

  std::optional<size_t> AxisCalled(const Json& name, const std::vector<std::string>& path) {
    std::vector<std::string> names;
    for (size_t i = 0; i < file_.axes.size(); ++i) {
      if (name == file_.axes[i].name) return i;
      names.push_back(file_.axes[i].name);
    }
    Report(kBadSweep, fmt::format("`zip` names {}, which is no axis", JsonText(name)), path,
           DidYouMean(TextOf(name), names));
    return std::nullopt;
  }

  // One list of names, or several.
  void ReadZips() {
    if (!root_.contains("zip")) return;
    Json zips = root_["zip"];
    if (!zips.is_array()) return Report(kBadSweep, "`zip` is a list of axes, or of such lists", {"zip"});
    if (!zips.empty() && !zips[0].is_array()) zips = Json::array({zips});
    std::set<size_t> used;
    for (size_t z = 0; z < zips.size(); ++z) {
      std::vector<size_t> together;
      for (const Json& name : zips[z]) {
        const auto axis = AxisCalled(name, {"zip", std::to_string(z)});
        if (!axis) continue;
        if (!used.insert(*axis).second)
          Report(kBadSweep, fmt::format("`{}` is zipped twice", file_.axes[*axis].name), {"zip", std::to_string(z)});
        together.push_back(*axis);
      }
      CheckLengths(together);
      if (!together.empty()) file_.zips.push_back(std::move(together));
    }
  }

  void CheckLengths(const std::vector<size_t>& together) {
    for (const size_t i : together) {
      const Axis& axis = file_.axes[i];
      const Axis& first = file_.axes[together[0]];
      if (axis.values.size() == first.values.size() && !axis.range) continue;
      Report(kBadSweep,
             fmt::format("`{}` has {} values and `{}` {}: axes that are zipped have equally many", first.name,
                         first.values.size(), axis.name, axis.values.size()),
             {"axes", axis.name});
    }
  }

  void ReadSample() {
    const Json* sample = Object("sample");
    if (sample != nullptr) {
      static const std::vector<std::string> kSampleKeys = {"method", "count", "seed"};
      for (const auto& [key, value] : sample->items()) {
        if (std::find(kSampleKeys.begin(), kSampleKeys.end(), key) == kSampleKeys.end())
          Report(kBadSweep, fmt::format("unknown key `sample.{}`", key), {"sample", key}, DidYouMean(key, kSampleKeys));
      }
      const Json method = sample->value("method", Json("random"));
      const std::vector<std::string> methods = {"random", "latin-hypercube"};
      if (method != methods[0] && method != methods[1])
        Report(kBadSweep, fmt::format("{} is no way to sample", JsonText(method)), {"sample", "method"},
               DidYouMean(TextOf(method), methods, "random or latin-hypercube"));
      file_.sample.method = method == methods[1] ? Method::kLatinHypercube : Method::kRandom;
      const Json count = sample->value("count", Json());
      const Json seed = sample->value("seed", Json(0));
      if (!count.is_number_integer() || count.get<int64_t>() < 1 || !seed.is_number_integer() || seed < 0)
        return Report(kBadSweep, "a sample has a `count` of at least 1, and a `seed` of at least 0", {"sample"});
      file_.sample.count = count.get<uint64_t>();
      file_.sample.seed = seed.get<uint64_t>();
      return;
    }
    for (const Axis& axis : file_.axes) {
      if (axis.range)
        Report(kBadSweep, fmt::format("the range of `{}` has no `steps`, and there is no `sample`", axis.name),
               {"axes", axis.name}, "give `steps`, or `sample: {method: latin-hypercube, count: 100, seed: 1}`");
    }
  }

  void ReadConditions(const std::string& key, std::vector<Expression>& out) {
    if (!root_.contains(key)) return;
    const Json& texts = root_[key];
    for (const Json& text : texts.is_array() ? texts : Json::array({texts})) {
      if (!text.is_string()) {
        Report(kBadSweep, fmt::format("`{}` is a condition or a list of conditions", key), {key});
        continue;
      }
      auto expression = Expression::Parse(text.get<std::string>());
      if (expression) {
        out.push_back(*std::move(expression));
      } else {
        Report(expression.error(), {key});
      }
    }
    if (const Status consistent = CheckConsistent(out); !consistent) Report(consistent.error(), {key});
  }

  void ReadGoal() {
    if (root_.contains("minimise")) file_.minimise = TextOf(root_["minimise"]);
    if (const auto full = ColumnCalled(file_.minimise); !full)
      Report(kBadSweep, fmt::format("there is no result `{}` to minimise", file_.minimise), {"minimise"},
             DidYouMean(file_.minimise, ResultNames()));
    if (root_.contains("tokens")) {
      const auto tokens = NumberOf(root_["tokens"]);
      if (!tokens || !(*tokens > 0)) Report(kBadSweep, "`tokens` is a number above 0", {"tokens"});
      file_.economy.tokens = tokens.value_or(0);
    }
    if (!root_.contains("prices")) return;
    const Json& prices = root_["prices"];
    const Json by_device = prices.is_object() ? prices : Json{{"*", prices}};
    for (const auto& [device, price] : by_device.items()) {
      if (!price.is_number() || price.get<double>() < 0)
        Report(kBadSweep, "a price is a number, of one device and hour", {"prices", device});
      else
        file_.economy.prices[device] = price.get<double>();
    }
  }

  // Names in conditions: settings of the points in filters, results besides in constraints.
  void CheckNames() {
    std::vector<std::string> known;
    for (const auto& [name, value] : file_.base) known.push_back(name);
    for (const Axis& axis : file_.axes) known.push_back(axis.name);
    CheckNamesOf(file_.filters, "filter", known);
    for (const std::string& name : ResultNames()) known.push_back(name);
    CheckNamesOf(file_.constraints, "constraints", known);
  }

  void CheckNamesOf(const std::vector<Expression>& conditions, const std::string& key,
                    const std::vector<std::string>& known) {
    for (const Expression& condition : conditions) {
      for (const std::string& name : condition.Names()) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        Report(kBadExpression, fmt::format("`{}`: there is no setting or result `{}`", condition.text(), name), {key},
               DidYouMean(name, known, "names are those of axes, `base` and, in `constraints`, results"));
      }
    }
  }

  // Each value once, with the first one of all others.
  void CheckValues() {
    Settings first = file_.base;
    for (const Axis& axis : file_.axes)
      first.emplace_back(axis.name, axis.range ? ValueAt(*axis.range, 0) : axis.values[0]);
    SettingsReader reader;
    for (const auto& [name, value] : file_.base) CheckValue(reader, first, name, value, {"base", name});
    for (const Axis& axis : file_.axes) {
      const std::vector<Json> ends =
          axis.range ? std::vector{ValueAt(*axis.range, 0), ValueAt(*axis.range, 1)} : axis.values;
      for (size_t i = 0; i < ends.size(); ++i) {
        if (!CheckValue(reader, first, axis.name, ends[i], {"axes", axis.name, std::to_string(i)})) break;
      }
    }
  }

  bool CheckValue(SettingsReader& reader, const Settings& first, const std::string& name, const Json& value,
                  const std::vector<std::string>& path) {
    Settings needed;  // alone, but for the files that its fields change
    for (const auto& [other, setting] : first) {
      const bool noun =
          (other == "device" && name.starts_with("device.")) || (other == "system" && name.starts_with("system."));
      if (noun) needed.emplace_back(other, setting);
    }
    needed.emplace_back(name, value);
    const Status checked = CheckSettings(reader, name, needed);
    if (!checked) Report(checked.error(), path);
    return checked.ok();
  }

  const SweepSource& source_;
  const Json& root_;
  SweepFile& file_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<SweepFile> ReadSweepFile(const std::string& path, Diagnostics& diagnostics) {
  auto text = ReadInput(path);
  if (text) return ReadSweepText(*std::move(text), path, diagnostics);
  diagnostics.Report(text.error());
  return std::nullopt;
}

std::optional<SweepFile> ReadSweepText(std::string text, const std::string& path, Diagnostics& diagnostics) {
  SweepFile file{.path = path};
  const auto source = SweepSource::Parse(std::move(text), path);
  if (!source) {
    diagnostics.Report(source.error());
    return std::nullopt;
  }
  const size_t before = diagnostics.error_count();
  Reader(*source, file, diagnostics).Read();
  if (diagnostics.error_count() > before) return std::nullopt;
  for (const char* key : {"base", "axes", "zip", "filter", "sample"}) {
    if (source->root().contains(key)) file.definition[key] = source->root()[key];
  }
  return file;
}

bool AddConstraints(const std::vector<std::string>& texts, SweepFile& file, Diagnostics& diagnostics) {
  const size_t before = diagnostics.error_count();
  std::vector<std::string> known = ResultNames();
  for (const auto& [name, value] : file.base) known.push_back(name);
  for (const Axis& axis : file.axes) known.push_back(axis.name);
  for (const std::string& text : texts) {
    auto expression = Expression::Parse(text);
    if (!expression) {
      diagnostics.Report(expression.error());
      continue;
    }
    for (const std::string& name : expression->Names()) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        diagnostics.Error(kBadExpression, fmt::format("`{}`: there is no setting or result `{}`", text, name), {},
                          DidYouMean(name, known));
    }
    file.constraints.push_back(*std::move(expression));
  }
  if (const Status consistent = CheckConsistent(file.constraints); !consistent) diagnostics.Report(consistent.error());
  return diagnostics.error_count() == before;
}

Status AddPrices(const std::string& text, Economy& economy) {
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    const size_t equals = item.find('=');
    const auto price = NumberOf(item.substr(equals == std::string::npos ? 0 : equals + 1));
    if (!price || !(*price >= 0)) {
      return MakeError(kBadSetting, fmt::format("`{}` is no price", item), {},
                       "a number for one device and hour, or DEVICE=NUMBER,DEVICE=NUMBER");
    }
    economy.prices[equals == std::string::npos ? "*" : item.substr(0, equals)] = *price;
    at = end + 1;
  }
  return {};
}

}  // namespace hespas::sweep
