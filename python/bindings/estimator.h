// Estimators across the language border: Python ones called from C++, built-in ones called from Python.
//
// - A Python estimator prices single ops; loops, branches and calls around them are summed as for any other.
// - An Op that Python holds is valid until the call that made it ends; later use raises E0954.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "estimate/composite.h"
#include "estimate/estimator.h"

namespace hespas::python {

struct OpHandle {
  std::weak_ptr<const ir::Module*> module;  // gone when the call has ended
  ir::OpId op;
};

class PythonEstimator : public estimate::Estimator, private estimate::LeafEstimator {
 public:
  // `estimator` has name, key() and estimate_op(op).
  explicit PythonEstimator(nanobind::object estimator);
  ~PythonEstimator() override;

  std::string_view name() const override { return name_; }
  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, estimate::Notes& notes) const override;
  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block,
                                estimate::Notes& notes) const override;
  Hash128 key() const override { return key_; }

  // Whether its code raised; further ops then cost nothing.
  bool failed() const;
  void Rethrow() const;

 private:
  estimate::Work Leaf(const ir::Module& module, ir::OpId op, estimate::Notes& notes) const override;
  estimate::Work Ask(const ir::Module& module, ir::OpId op) const;

  mutable std::mutex mutex_;
  nanobind::object estimator_;
  std::string name_;
  Hash128 key_;
  mutable std::optional<nanobind::python_error> error_;
};

void BindEstimators(nanobind::module_& module);

}  // namespace hespas::python
