// What each block adds to the step of one NPU: made from a step, written into and read from result.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "report/step/step_view.h"
#include "result/block_times.h"

namespace hespas::report {

// `npu` must be a simulated one.
result::BlockTimes MakeBlockTimes(const StepView& step, uint32_t npu);

// The member `block_times` of result.json as text: structures, names, and a column for each figure of a block.
std::string ToJson(const result::BlockTimes& times);
// `file` is only a name for messages.
Result<result::BlockTimes> BlockTimesOf(const nlohmann::json& member, const std::string& file);

}  // namespace hespas::report
