// The figures that ASTRA-sim prints for each NPU (spec astra-sim section 10.1), gathered as the run goes.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/engine/core.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

class Statistics {
 public:
  Statistics(Core& core, result::SimResult& result) : core_(core), result_(result), npus_(core.simulated) {}

  void Issued(uint32_t rank, const trace::Node& node);
  void Ended(uint32_t rank, const trace::Node& node);
  // Compute durations, counted when issued.
  void AddBusy(uint32_t rank, uint64_t ticks) { npus_[rank].busy += ticks; }
  void AddRoofline(uint32_t rank, uint64_t ticks, const result::RooflineAverages& averages);
  void Finished(uint32_t rank);

 private:
  // Length of the union of intervals that open and close as time goes on.
  struct Union {
    uint64_t length = 0;
    uint64_t since = 0;
    uint32_t open = 0;
    bool any = false;
    void Open(uint64_t now) {
      any = true;
      if (open++ == 0) since = now;
    }
    void Close(uint64_t now) {
      if (--open == 0) length += now - since;
    }
  };
  struct Npu {
    uint64_t busy = 0;
    uint64_t last_end = 0;
    Union compute;
    Union communication;
    bool other_kinds = false;  // CPU, memory or invalid nodes: ASTRA-sim then loses its statistics (section 10.2)
    uint64_t roofline_ticks = 0;
    result::RooflineAverages roofline_sums;
    std::vector<std::pair<uint64_t, uint64_t>> started;  // node id, index into the recorded intervals
  };

  Union* UnionOf(Npu& npu, const trace::Node& node);

  Core& core_;
  result::SimResult& result_;
  std::vector<Npu> npus_;
};

}  // namespace hespas::simulate
