// What the kernels of a serving step cost on a device and its network: GPUs' matmuls and attention by the field
// model, all else by the calibrated models of both.
//
// - Kernels follow each other in a captured graph: of a lone kernel's launch only the stream's gap is left.
// - All-reduces within a host may be the engines' own (serve/model/all_reduces.h): between two barriers, each rank
//   reads its peers' buffers over the links.
#pragma once

#include "estimate/calibrated/model.h"
#include "estimate/field/experts/expert_loads.h"
#include "estimate/field/matmul.h"
#include "hardware/device.h"
#include "hardware/system.h"
#include "network/calibrated.h"
#include "serve/model/all_reduces.h"
#include "serve/model/kernels.h"
#include "serve/step.h"

namespace hespas::driver {

// Whether the field model prices the device's matmuls and attention.
bool InField(const hardware::Device& device);

class KernelPrices {
 public:
  // What matmuls with the model's weights multiply.
  struct Activations {
    std::string_view name = "bf16";
    estimate::field::Format format = estimate::field::Format::kF16;
    estimate::calibrated::Datatype type = estimate::calibrated::Datatype::kBf16;
  };

  // `system` may be nullptr where one device serves; both must outlive the prices.
  KernelPrices(const hardware::Device& device, const estimate::calibrated::Parameters& parameters,
               const estimate::field::Constants& field, const network::NetworkConstants& links,
               const hardware::System* system, const serve::WeightFormatFacts& weights);

  serve::StepCost CostOf(const serve::StepKernel& kernel) const;  // all of its count
  serve::StepCost CostOf(const serve::AttentionCall& call) const;
  void TakeAllReduces(const serve::AllReduces& engines) { all_reduces_ = engines; }  // else all are the library's
  double HostSeconds(double bytes) const;                                            // over the host's link
  double LinkSeconds(double bytes) const;                                            // from one device to another
  // Of the kernels of one part, relative: as their models were fitted, devices held out.
  double sigma(serve::Part part) const;
  std::string_view activations() const { return activations_.name; }

 private:
  serve::StepCost Matmul(const serve::StepKernel& kernel) const;
  serve::StepCost ExpertRows(const serve::StepKernel& kernel) const;
  // Of the busiest rank, for which the others wait in each layer. Drawn once for the kernels of a layer.
  const estimate::field::ExpertLoads& LoadsOf(const serve::Routing& routing) const;
  estimate::calibrated::KernelSpec SpecOf(const serve::StepKernel& kernel) const;
  double CollectiveUs(const serve::StepKernel& kernel) const;
  double OwnAllReduceUs(const serve::StepKernel& kernel, serve::AllReduce kind, double library_us) const;
  serve::StepCost InStream(const estimate::calibrated::KernelTime& time, serve::Part part, double count) const;

  const hardware::Device& device_;
  estimate::calibrated::KernelModel model_;
  estimate::field::Chip chip_;
  const estimate::field::Constants& field_;
  const hardware::System* system_;
  const network::NetworkConstants& constants_;
  std::optional<network::CalibratedModel> links_;
  serve::WeightFormatFacts weights_;
  Activations activations_;
  mutable std::optional<serve::Routing> routing_;  // of `loads_`
  mutable estimate::field::ExpertLoads loads_;
  serve::AllReduces all_reduces_;
  bool in_field_;  // the field model prices matmuls and attention
};

}  // namespace hespas::driver
