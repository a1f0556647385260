// The Python prototype's roofline, to the last bit of its doubles (spec python-prototype section 4 and 10).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "estimate/estimator.h"
#include "hardware/device.h"

namespace hespas::estimate {

struct PrototypeRates {
  double peak_flops = 0;
  double memory_bandwidth = 0;
  std::vector<std::pair<std::string, double>> per_datatype_flops;  // in the order of the configuration

  static PrototypeRates Of(const hardware::Device& device);
  const double* Find(std::string_view datatype) const;
};

// One op as the prototype records it.
struct PrototypeOp {
  ir::OpId op;
  std::string_view name;
  double seconds = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
  std::string datatype;           // of the widest operand or result
  bool unknown_datatype = false;  // the table lacks it
  bool handled = true;            // false: the prototype stops here with an error
};

// The ops that the prototype estimates for an op of a block: itself, or what the function it calls holds.
std::vector<ir::OpId> PrototypeExpansion(const ir::Module& module, ir::OpId op);

// `name` replaces the op's own where a synthesised `func.return` is meant.
PrototypeOp EstimatePrototypeOp(const ir::Module& module, ir::OpId op, const PrototypeRates& rates);

// The prototype's width of an element type and its bytes of one value (bit-packed, at least one byte).
int64_t PrototypeBytes(const ir::Module& module, ir::TypeId type);

class PrototypeRoofline : public Estimator {
 public:
  explicit PrototypeRoofline(PrototypeRates rates);

  std::string_view name() const override { return "roofline"; }
  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const override;
  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const override;
  Hash128 key() const override { return key_; }

 private:
  PrototypeRates rates_;
  Hash128 key_;
};

}  // namespace hespas::estimate
