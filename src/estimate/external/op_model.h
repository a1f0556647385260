// A model of single operations, and the estimator that it makes together with a fallback for the rest.
//
// - `source` of an estimate says who costed it: the model's name, the fallback's, or "mixed" for a block of both.
// - A model that fails on an op (a tool that crashes, an answer that makes no sense) leaves it to the fallback with a
//   note. Equal ops are asked once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "estimate/composite.h"
#include "estimate/estimator.h"

namespace hespas::estimate {

struct OpTime {
  double seconds = 0;
  double sigma_seconds = 0;
  double compute_seconds = 0;  // what arithmetic alone would take
  double memory_seconds = 0;   // what transfers that nothing hides take
};

class OpModel {
 public:
  virtual ~OpModel() = default;
  virtual std::string_view name() const = 0;  // lives as long as the program
  // Nothing where the model does not know such ops. Safe to call from several threads.
  virtual Result<std::optional<OpTime>> Cost(const ir::Module& module, ir::OpId op) const = 0;
  // A block of several operations as one program; nothing where the model costs operations one by one.
  virtual Result<std::optional<OpTime>> CostBlock(const ir::Module&, const graph::Block&) const {
    return std::optional<OpTime>();
  }
  virtual std::string Fingerprint() const = 0;  // of everything that costs depend on, the tool's version included
};

std::unique_ptr<Estimator> WithFallback(std::unique_ptr<OpModel> model, std::unique_ptr<Estimator> fallback);

}  // namespace hespas::estimate
