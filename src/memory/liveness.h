// Liveness over one executed block: which buffers are held at each of its ops.
//
// - Times are positions in an order of the block's ops; position count() represents the terminator.
// - What loops, branches and calls hold inside comes in as `extra`, per op; what is carried into and out of them counts
//   outside, except copies that a loop has to make.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "memory/buffers/aliasing.h"
#include "memory/buffers/buffer_policy.h"
#include "memory/buffers/donation.h"

namespace hespas::memory {

// A buffer while it is held, positions inclusive.
struct Interval {
  ir::ValueId value;  // the first that is in it
  int64_t bytes = 0;
  uint32_t from = 0;
  uint32_t until = 0;
  bool result = false;               // a result of main that is in no argument
  uint32_t owner = 0;                // number of the value
  uint32_t rank = 0;                 // of its producer among all
  uint32_t reused_by = 0xFFFFFFFFu;  // number of the value that may be written over it when it ends
  bool workspace = false;            // nothing is in it; `value` is what its op makes
  bool reused_directly = false;      // also where both lie among the temporaries
};

// What the regions of an op hold at their worst moment besides what is carried in and out.
struct Inside {
  int64_t bytes = 0;
  std::vector<Interval> held;  // positions are meaningless
};
using InsideByOp = std::unordered_map<uint32_t, Inside>;  // by op id

struct Liveness {
  std::vector<Interval> intervals;  // in order of `from`
  std::vector<int64_t> bytes;       // held at each position, the insides of ops included
  uint32_t peak = 0;                // position
};

// Bytes of values' buffers as allocators hand them out; nothing for tokens.
class BufferSizes {
 public:
  BufferSizes(const ir::Module& module, int64_t alignment);
  int64_t Of(ir::ValueId value) const { return of_type_[module_.type_id(value).index()]; }
  int64_t Rounded(int64_t bytes) const;

 private:
  const ir::Module& module_;
  int64_t alignment_;
  std::vector<int64_t> of_type_;
};

struct BlockToAnalyse {
  ir::BlockId block;
  const BufferSizes& sizes;
  const BufferPolicy& policy;
  InPlaceReuse& reuse;
  std::span<const ir::OpId> order;     // all ops but the terminator
  bool is_main = false;                // results and arguments are in buffers of the caller
  const Donation* donation = nullptr;  // main only
  ir::OpId loop;                       // whose body the block is; invalid for others
};

Liveness Analyse(const ir::Module& module, const BlockToAnalyse& what, const InsideByOp& inside);

// Buffers alive at `position`.
std::vector<Interval> HeldAt(const Liveness& liveness, uint32_t position);

}  // namespace hespas::memory
