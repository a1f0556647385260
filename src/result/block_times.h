// BlockTimes: what each block adds to the step, for comparing one step with another.
//
// - Times are those of one NPU, the slowest: computation, and communication while it computes nothing.
// - The times of all blocks and `idle` add up to the step time, to the picosecond.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace hespas::result {

// What equal blocks have in common.
struct BlockStructure {
  std::string hash;    // 32 digits, equal for blocks of equal structure in any run
  std::string op;      // "stablehlo.dot_general", "fusion of stablehlo.add"
  std::string kind;    // "matmul", "all_reduce"
  std::string shapes;  // "(bf16[8,128], f32[]) -> f32[8]"
  std::string bound;   // "memory"; of communication "network"
};

struct BlockTime {
  uint32_t structure = 0;  // index into BlockTimes::structures
  uint32_t name = 0;       // index into BlockTimes::names
  uint32_t scope = 0;      // index into BlockTimes::scopes, where there are any
  Time time;
};

struct BlockTimes {
  uint32_t npu = 0;
  std::vector<BlockStructure> structures;
  std::vector<std::string> names;   // an HLO instruction's name, or the framework's name of an operation; may be ""
  std::vector<std::string> scopes;  // "layers_3/mlp"; results of older versions have none
  std::vector<BlockTime> blocks;    // in program order
  // Of each block, where the operations that it computes stand in the program's text, first the one that it is about;
  // results of older versions have none.
  std::vector<std::vector<uint32_t>> ops;
  Time idle;
};

}  // namespace hespas::result
