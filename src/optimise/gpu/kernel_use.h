// What a kernel takes and how often it asks for each value, as XLA's cost analysis of fusions counts.
//
// Source: xla/service/gpu/model, gpu_hlo_cost_analysis.cc (FusionCalculateUtilizations): all results of a kernel are
// one root, and so is whatever an op that is not elementwise reads; a value is asked for once for each root that it is
// used in elementwise. Launch dimensions: xla/backends/gpu/codegen.
#pragma once

#include <cstdint>
#include <vector>

#include "optimise/fusion/kernels.h"
#include "optimise/gpu/decisions.h"
#include "optimise/gpu/tiled_transpose.h"

namespace hespas::optimise {

struct KernelUse {
  struct Read {
    ValueId value;
    double size = 0;     // bytes
    double element = 4;  // bytes
    double times = 0;    // that the whole value is asked for
    uint64_t roots = 0;  // one bit for each in which it is used elementwise; bit 0: the results
  };
  double operations = 0;  // clocks of one lane
  double written = 0;     // bytes
  double blocks = 0;      // thread blocks
  bool reduces = false;
  int64_t columns = 0;        // neighbouring results of its column reduction; 0: none
  bool reads_across = false;  // holds a transpose for which it reads single elements (ReadsAcross)
  bool is_tiled = false;      // has an emitter that walks its transpose in tiles
  std::vector<Read> reads;
  std::vector<double> root_times;

  // Adds its reads to the list.
  KernelWork WorkWith(std::vector<ReadTraffic>& list) const;
  // The share of the memory's bandwidth that a read gets, or would in a kernel that reads across.
  double Rate(const Read& read) const { return Rate(read, reads_across && !is_tiled); }
  static double Rate(const Read& read, bool across);
  // Thread blocks of a kernel that makes what it reads `through` itself, as `made` does.
  double BlocksWith(const KernelUse& made, const Read& through) const;
  const Read* Of(ValueId value) const;
  // How often the roots of both reads are asked for.
  double Common(const Read& a, const Read& b) const;
  // Calls `note(read, times)` for each value that `made` reads, as often as a kernel asks for it that makes what is
  // read `through` itself, and then for the other values that this kernel reads.
  template <class Note>
  void ReadWith(const KernelUse& made, const Read& through, Note note) const {
    for (const Read& read : made.reads) {
      const Read* also = Of(read.value);
      double times = read.times * through.times;
      if (also != nullptr) times += also->times - ((read.roots & 1) != 0 ? Common(*also, through) : 0);
      note(read, times);
    }
    for (const Read& read : reads) {
      if (read.value != through.value && made.Of(read.value) == nullptr) note(read, read.times);
    }
  }
};

// Counts one kernel after the other; keeps what it needs for that between them.
class KernelCounter {
 public:
  // Constants are read from memory until XLA has decided what to fuse (`reads_constants`).
  KernelCounter(const Dataflow& flow, const PassContext& context, const KernelPlan& plan, bool reads_constants = false)
      : flow_(flow),
        context_(context),
        plan_(plan),
        reads_constants_(reads_constants),
        members_(flow, plan),
        roots_(flow.value_count(), 0),
        facts_(flow.node_count()),
        tiled_(flow) {
    for (const NodeId id : flow.order()) facts_[id.index()] = FactsOf(id);
  }

  KernelUse Count(uint32_t kernel);
  bool IsInside(ValueId value, uint32_t kernel) const;
  // Whether an emitter walks a transpose in tiles in a kernel of one root that takes in the kernel of `value`.
  bool IsTiledWith(uint32_t kernel, NodeId value);

 private:
  // Of an op, whatever kernel it is in.
  struct Facts {
    double elements = 0;  // computed
    double clocks = 0;    // of one lane for one of them
    int64_t results = 0;  // elements of the first result
    double blocks = 0;    // of threads, of a reduction
    int64_t columns = 0;  // neighbouring results of a column reduction
    bool reduces = false;
    bool across = false;  // reads single elements (ReadsAcross)
  };

  Facts FactsOf(NodeId id) const;
  void Enter(KernelUse& use, const Node& node, uint64_t roots, uint32_t kernel);

  const Dataflow& flow_;
  const PassContext& context_;
  const KernelPlan& plan_;
  bool reads_constants_;
  bool whole_rows_ = false;  // of the kernel that is counted
  Members members_;
  std::vector<uint64_t> roots_;  // by value, all 0 between two kernels
  std::vector<Facts> facts_;     // by node
  TiledTransposes tiled_;
};

// Thread blocks for each row of columns of a reduction, in a kernel that reads no value of fewer bytes an element.
double BlocksOfColumns(int64_t columns, double narrowest);

}  // namespace hespas::optimise
