#include "sweep/solve/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/system/file.h"
#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"
#include "sweep/evaluator.h"
#include "sweep/file/expression.h"

namespace hespas::sweep {
namespace {

constexpr size_t kFirstPoints = 9;     // enough to see whether a result only rises or falls
constexpr size_t kScannedPoints = 65;  // where it does neither
constexpr double kRangeFactor = 100;   // around today's value
constexpr double kMostDoublings = 6;   // of the number of devices
constexpr double kClose = 1e-3;        // of a value: where bisection ends
constexpr double kSlopeStep = 0.01;    // of a value, to either side
constexpr double kNoise = 1e-3;        // of a result's span: what other kernels on another device may move against it

class Solver {
 public:
  Solver(const SolveOptions& options, Diagnostics& diagnostics) : options_(options), diagnostics_(diagnostics) {}

  std::optional<Solution> Run() {
    if (!Parse() || !ReadProgram() || !Today() || !Range()) return std::nullopt;
    Sample(kFirstPoints);
    found_.monotone = IsMonotone();
    if (!found_.monotone && !found_.unknown.whole()) Sample(kScannedPoints);
    if (std::ranges::none_of(found_.tried, [](const Tried& t) { return t.value.has_value(); })) {
      diagnostics_.Report(MakeError(kNotMet, fmt::format("no value of `{}` could be run: {}", options_.find,
                                                         found_.tried.empty() ? "" : found_.tried.front().error)));
      return std::nullopt;
    }
    Narrow();
    if (found_.met && !found_.unknown.whole()) found_.slope = Slope();
    found_.runs = runs_;
    return std::move(found_);
  }

 private:
  template <class T>
  bool Take(Result<T> result, T& out) {
    if (!result) {
      diagnostics_.Report(result.error());
      return false;
    }
    out = *std::move(result);
    return true;
  }

  bool Parse() {
    return Take(Unknown::Parse(options_.find), found_.unknown) && Take(Target::Parse(options_.until), found_.target);
  }

  // Standard input cannot be read twice.
  bool ReadProgram() {
    run_ = options_.run;
    if (run_.program.path != "-") return true;
    auto raw = ReadRaw(run_.program.path);
    if (!raw) {
      diagnostics_.Report(raw.error());
      return false;
    }
    run_.program.content = std::make_shared<const std::string>(*std::move(raw));
    return true;
  }

  Tried Evaluate(const driver::RunOptions& options, double at) {
    ++runs_;
    Row row;
    evaluator_.Evaluate(options, scratch_, row);
    Tried tried{.at = at, .value = std::nullopt, .result = std::move(row.result), .error = {}};
    if (!row.error.empty()) tried.error = fmt::format("{}: {}", row.error, row.message);
    if (row.error.empty()) tried.value = found_.target.ValueOf(tried.result);
    if (row.error.empty() && !tried.value) tried.error = fmt::format("has no {}", found_.target.column);
    return tried;
  }

  Tried At(double value) {
    driver::RunOptions options = run_;
    found_.unknown.Apply(value, options);
    return Evaluate(options, value);
  }

  // The run as it is. It may fail where a symbolic dimension has no value yet.
  bool Today() {
    if (found_.unknown.kind == Unknown::Kind::kDimension) return true;
    const auto device = driver::ChangedDeviceOf(run_, diagnostics_);
    if (!device) return false;
    found_.now = Evaluate(run_, 0);
    if (!found_.now.value) {
      // Evaluators tell one error; a run tells all.
      if (driver::Run(run_, diagnostics_))
        diagnostics_.Report(MakeError(kBadTarget, fmt::format("this run {}", found_.now.error)));
      return false;
    }
    if (found_.unknown.kind != Unknown::Kind::kFigure) {
      found_.today = static_cast<double>(found_.now.result.npus);
      return true;
    }
    const auto system = SystemOfRun(*device);
    if (diagnostics_.has_errors()) return false;
    const auto figure = driver::ReadFigure(found_.unknown.name, *device, system ? &*system : nullptr);
    if (!figure) diagnostics_.Report(figure.error());
    if (!figure) return false;
    found_.unit = figure->unit;
    found_.today = found_.now.at = figure->value;
    return true;
  }

  std::optional<hardware::System> SystemOfRun(const hardware::Device& device) {
    const auto npus = static_cast<size_t>(found_.now.result.npus);
    if (run_.network.backend == driver::NetworkBackend::kNone || found_.now.result.system.empty()) return std::nullopt;
    auto system = run_.system.name == driver::kAutoSystem ? driver::SystemOfDevice(device, npus, diagnostics_)
                                                          : driver::LoadSystemPreset(run_.system.name, diagnostics_);
    if (!system) return std::nullopt;
    if (const Status changed = driver::ChangeSystem(run_.changes, *system); !changed)
      diagnostics_.Report(changed.error());
    return system;
  }

  bool Range() {
    const double today = found_.today.value_or(0);
    const double factor = found_.unknown.whole() ? std::exp2(kMostDoublings) : kRangeFactor;
    found_.from = found_.unknown.whole() ? std::max(1.0, std::floor(today / factor)) : today / factor;
    found_.to = today * factor;
    if (!options_.between.empty()) {
      const size_t comma = options_.between.find(',');
      const auto from = NumberOf(Json(options_.between.substr(0, comma)));
      const auto to = comma == std::string::npos ? std::nullopt : NumberOf(Json(options_.between.substr(comma + 1)));
      found_.from = from.value_or(0);
      found_.to = to.value_or(0);
    }
    if (found_.from > 0 && found_.to > found_.from && std::isfinite(found_.to)) return true;
    diagnostics_.Report(MakeError(kBadRange,
                                  options_.between.empty()
                                      ? fmt::format("`{}` has no value to search around", options_.find)
                                      : fmt::format("`{}` is no range", options_.between),
                                  {}, "give --between FROM,TO with 0 < FROM < TO"));
    return false;
  }

  void Try(double value) {
    const auto known = std::ranges::find_if(found_.tried, [&](const Tried& t) { return t.at == value; });
    if (known != found_.tried.end()) return;
    Tried tried = At(value);
    const auto place = std::ranges::lower_bound(found_.tried, value, {}, &Tried::at);
    found_.tried.insert(place, std::move(tried));
  }

  // Evenly spaced by ratio; whole numbers by doubling from today's.
  void Sample(size_t points) {
    if (found_.unknown.whole()) return SampleWhole();
    const double ratio = std::log(found_.to / found_.from) / static_cast<double>(points - 1);
    for (size_t i = 0; i < points; ++i) {
      const bool last = i + 1 == points;
      Try(last ? found_.to : found_.from * std::exp(ratio * static_cast<double>(i)));
    }
  }

  void SampleWhole() {
    double first = found_.today.value_or(1);
    while (first / 2 >= found_.from && std::fmod(first, 2) == 0) first /= 2;
    while (first < found_.from) first *= 2;
    for (double value = first; value <= found_.to; value *= 2) Try(value);
  }

  bool IsMonotone() const {
    std::vector<double> values;
    for (const Tried& tried : found_.tried) {
      if (tried.value) values.push_back(*tried.value);
    }
    if (values.size() < 2) return true;
    const auto [least, most] = std::ranges::minmax(values);
    const double noise = kNoise * (most - least);
    bool rises = true;
    bool falls = true;
    for (size_t i = 1; i < values.size(); ++i) {
      rises &= values[i] >= values[i - 1] - noise;
      falls &= values[i] <= values[i - 1] + noise;
    }
    return rises || falls;
  }

  bool Met(const Tried& tried) const { return tried.value && found_.target.Met(*tried.value); }

  // How far a value is from today's, by ratio.
  double Away(double value) const { return found_.today ? std::abs(std::log(value / *found_.today)) : value; }

  // The border nearest to today's value, or what comes nearest to the target.
  void Narrow() {
    std::optional<size_t> border;
    for (size_t i = 1; i < found_.tried.size(); ++i) {
      if (Met(found_.tried[i]) == Met(found_.tried[i - 1])) continue;
      if (!border || Distance(i) < Distance(*border)) border = i;
    }
    if (border) {
      found_.rising = Met(found_.tried[*border]);
      Tried low = found_.tried[*border - 1];
      Tried high = found_.tried[*border];
      Bisect(low, high);
      found_.met = true;
      found_.answer = found_.rising ? std::move(high) : std::move(low);
      return;
    }
    found_.met = Met(found_.tried.front());
    found_.answer = found_.met ? EasiestOf() : NearestOf();
  }

  double Distance(size_t border) const {
    return std::min(Away(found_.tried[border - 1].at), Away(found_.tried[border].at));
  }

  void Bisect(Tried& low, Tried& high) {
    const bool whole = found_.unknown.whole();
    while (whole ? high.at - low.at > 1 : high.at / low.at > 1 + kClose) {
      const double middle = whole ? std::floor((low.at + high.at) / 2) : std::sqrt(low.at * high.at);
      Tried tried = At(middle);
      // A program cannot be carried over to every number of devices: what it can be is between these two.
      if (whole && !tried.value) return;
      (Met(tried) == found_.rising ? high : low) = std::move(tried);
    }
  }

  // All values meet it: today's, or the first.
  const Tried& EasiestOf() const { return found_.now.value && found_.now.at > 0 ? found_.now : found_.tried.front(); }

  const Tried& NearestOf() const {
    const auto miss = [&](const Tried& tried) {
      return tried.value ? found_.target.Miss(*tried.value) : std::numeric_limits<double>::infinity();
    };
    return *std::ranges::min_element(found_.tried, {}, miss);
  }

  std::optional<double> Slope() {
    const double at = found_.answer.at;
    const Tried below = At(at * (1 - kSlopeStep));
    const Tried above = At(at * (1 + kSlopeStep));
    if (!below.value || !above.value) return std::nullopt;
    return (*above.value - *below.value) / (above.at - below.at);
  }

  const SolveOptions& options_;
  Diagnostics& diagnostics_;
  driver::RunOptions run_;
  Evaluator evaluator_;
  Scratch scratch_;
  Solution found_;
  size_t runs_ = 0;
};

}  // namespace

std::optional<Solution> Solve(const SolveOptions& options, Diagnostics& diagnostics) {
  return Solver(options, diagnostics).Run();
}

}  // namespace hespas::sweep
