#include "serve/step_table.h"

#include <algorithm>

namespace hespas::serve {

double TableStepModel::At(const StepTimes& times, double batch, double context) const {
  if (batch <= 0 || times.empty()) return 0;
  beyond_ = beyond_ || times.EndsBefore(batch, context);
  return times.At(batch, context);
}

StepCost TableStepModel::CostOf(const StepShape& step) const {
  const double prompts =
      At(tables_.prefill, step.prompt_requests, step.prompt_tokens / std::max(step.prompt_requests, 1.0));
  double decodes = At(tables_.decode, step.decode_rows, step.decode_context / std::max(step.decode_requests, 1.0));
  if (prompts > 0 && decodes > 0) decodes = std::max(0.0, decodes - tables_.decode.At(0, 0));
  StepCost cost{.seconds = prompts + decodes};
  cost.parts[static_cast<size_t>(Part::kOther)] = cost.seconds;
  return cost;
}

}  // namespace hespas::serve
