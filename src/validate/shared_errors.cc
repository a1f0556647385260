#include "validate/shared_errors.h"

#include <cmath>
#include <map>

#include "estimate/calibrated/collective.h"
#include "estimate/calibrated/machine.h"
#include "estimate/calibrated/model.h"
#include "estimate/field/noise.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;
namespace field = estimate::field;

constexpr double kLongUs = 20;  // from which a kernel's start matters little

struct Mean {
  double sum = 0, weights = 0;

  void Add(double value, double weight) {
    sum += value * weight;
    weights += weight;
  }
  std::string Percent() const { return weights > 0 ? fmt::format("{:.1f}", 100 * sum / weights) : ""; }
};

struct Errors {
  size_t rows = 0;
  Mean shipped, fitted, bias, of_long;
};

class ErrorsOfFamilies {
 public:
  void Add(std::string_view family, const hardware::Device& device, double us, double shipped, double fitted,
           double weight = 1) {
    Errors& errors = errors_[{std::string(family), device.name}];
    ++errors.rows;
    errors.shipped.Add(std::abs(shipped / us - 1), weight);
    errors.fitted.Add(std::abs(fitted / us - 1), weight);
    errors.bias.Add(fitted / us - 1, weight);
    if (us >= kLongUs) errors.of_long.Add(std::abs(fitted / us - 1), weight);
  }

  report::Table Table() const {
    using report::Align;
    report::Table table;
    table.columns = {{"family"},
                     {"device"},
                     {"rows", Align::kRight},
                     {"shipped %", Align::kRight},
                     {"fitted %", Align::kRight},
                     {"bias %", Align::kRight},
                     {"20 us and more %", Align::kRight}};
    for (const auto& [key, errors] : errors_) {
      table.rows.push_back({key.first, key.second, fmt::format("{}", errors.rows), errors.shipped.Percent(),
                            errors.fitted.Percent(), errors.bias.Percent(), errors.of_long.Percent()});
    }
    return table;
  }

 private:
  std::map<std::pair<std::string, std::string>, Errors> errors_;
};

}  // namespace

report::Table SharedErrors(const SharedRows& rows, const SharedConstants& shipped, const SharedConstants& fitted) {
  ErrorsOfFamilies errors;
  for (const auto& [device, kernels] : rows.kernels) {
    const calibrated::KernelModel before(device, shipped.parameters), after(device, fitted.parameters);
    const calibrated::Machine machine = calibrated::MakeMachine(device);
    for (const auto& [kernel, us, weight] : kernels) {
      errors.Add(calibrated::FamilyOnMachine(kernel, machine), device, us, before.Time(kernel).us,
                 after.Time(kernel).us, weight);
    }
  }
  for (const auto& [device, collectives] : rows.collectives) {
    const calibrated::CollectiveModel before(device, shipped.parameters), after(device, fitted.parameters);
    for (const auto& [collective, us] : collectives) {
      const auto op = static_cast<size_t>(collective.op);
      if (op >= std::size(calibrated::kSharedCollectives)) continue;  // not fitted
      errors.Add(calibrated::kSharedCollectives[op], device, us, before.Time(collective).us, after.Time(collective).us);
    }
  }
  for (const auto& [device, calls] : rows.calls) {
    const field::Chip chip = field::MakeChip(device);
    for (const auto& [call, us] : calls) {
      errors.Add(field::FamilyOf(call), device, us, field::UsOf(chip, shipped.field, call),
                 field::UsOf(chip, fitted.field, call));
    }
  }
  return errors.Table();
}

}  // namespace hespas::validate
