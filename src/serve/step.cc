#include "serve/step.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/csv_text.h"

namespace hespas::serve {

Result<LinearStepModel> LinearStepModel::Parse(const std::string& text) {
  LinearStepModel model;
  constexpr const char* kHelp = "for example --step-model a=5e-3,b=2e-5,c=1e-9,p=2e-5";
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, comma - begin);
    begin = comma + 1;
    const double number = item.size() > 2 && item[1] == '=' ? CsvNumber(item.substr(2)).value_or(-1) : -1;
    double* constant = item.empty()     ? nullptr
                       : item[0] == 'a' ? &model.a
                       : item[0] == 'b' ? &model.b
                       : item[0] == 'c' ? &model.c
                       : item[0] == 'p' ? &model.p
                                        : nullptr;
    if (!constant || number < 0)
      return MakeError(kBadStepModel, fmt::format("--step-model: `{}` is no constant of a step", item), {}, kHelp);
    *constant = number;
  }
  if (model.a + model.b + model.c + model.p <= 0)
    return MakeError(kBadStepModel, "--step-model: all constants are 0", {}, kHelp);
  return model;
}

StepFloors LinearStepModel::Floors(const StepRange& range) const {
  StepFloors floors{.row_s = std::min(b, p) + a / std::max(range.rows, 1.0), .prompt_row_s = p};
  for (int64_t n = 1; n <= range.requests; ++n)
    floors.decode_s.push_back(a + static_cast<double>(n) * (b * range.rows_each + c * range.context));
  return floors;
}

StepCost LinearStepModel::CostOf(const StepShape& step) const {
  StepCost cost;
  const double rows = b * step.decode_rows + p * step.prompt_tokens;
  const double context = c * step.decode_context;
  cost.parts[static_cast<size_t>(Part::kWeights)] = a + rows;
  cost.parts[static_cast<size_t>(Part::kAttention)] = context;
  cost.seconds = a + rows + context;
  return cost;
}

}  // namespace hespas::serve
