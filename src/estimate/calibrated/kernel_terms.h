// A kernel's time as terms that scale with the device's figures: what a page needs to follow other peaks, bandwidths
// and launch times with the formulas of calibrated.h and model.h.
#pragma once

#include <optional>
#include <vector>

#include "estimate/calibrated/leaf_facts.h"
#include "estimate/calibrated/model.h"
#include "hardware/device.h"

namespace hespas::estimate::calibrated {

struct MatmulTerms {
  std::vector<Tiling> tilings;  // the best one counts
  TileTraffic traffic;
  double launch_us = 0;
  bool sharp = true;     // eighth-power combination, else fourth
  bool lanes = false;    // on CUDA cores instead of matrix units
  bool batched = false;  // of those on lanes
};

// What moves bytes beside instructions.
struct TrafficTerms {
  double bytes = 0;
  double hits = 0;  // fraction that L2 holds
  double lanes_us = 0;
  double special_us = 0;
};

struct KernelTerms {
  std::vector<MatmulTerms> matmuls;
  std::optional<TrafficTerms> traffic;  // where there is no matmul
  double rest_bytes = 0;                // of a matmul's epilogue
  bool own = false;                     // a kernel that tells its work: arithmetic or the host may be longest
  double matrix_us = 0;                 // of that
  double host_us = 0;
  double wait_us = 0;   // steps that follow each other
  double floor_us = 0;  // arithmetic at the peak rates
};

// Nothing where the op costs nothing.
std::optional<KernelTerms> TermsOf(const KernelModel& model, const hardware::Device& device, const LeafFacts& facts);

}  // namespace hespas::estimate::calibrated
