// Step times of the user's own programs or measurements, by batch and context.
//
// - A prompt's row stands for so many prompts of so many tokens, a decode's for so many requests of so long a context.
// - A step of both kinds shares the weights: it takes the prompts' time and what its decodes take beyond the smallest
//   decode of the table, which does little but read weights.
#pragma once

#include "serve/serving.h"
#include "serve/step.h"

namespace hespas::serve {

struct StepTables {
  StepTimes prefill;
  StepTimes decode;
};

class TableStepModel : public StepModel {
 public:
  explicit TableStepModel(StepTables tables) : tables_(std::move(tables)) {}
  StepCost CostOf(const StepShape& step) const override;
  // A step was asked for that is larger than the table's.
  bool beyond() const { return beyond_; }

 private:
  double At(const StepTimes& times, double batch, double context) const;

  StepTables tables_;
  mutable bool beyond_ = false;
};

}  // namespace hespas::serve
