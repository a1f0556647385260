// report.html: one self-contained page about a run. Its program (data/report/page.js) draws what the data in it say.
//
// - Nothing is loaded from anywhere. Without ECharts (a build that could not fetch it) tables stand where charts would.
// - Size is linear in blocks: about 60 bytes each and 200 for each distinct one.
#pragma once

#include <string>

#include "hardware/device.h"
#include "hardware/system.h"
#include "report/step/step_view.h"
#include "result/run_result.h"

namespace hespas::report {

struct PageInput {
  const result::RunResult& result;
  const StepView& step;
  const hardware::Device& device;
  const hardware::System* system = nullptr;
  std::string live = {};  // what the page recomputes (driver/live), one JSON object; empty: nothing
};

std::string ReportPage(const PageInput& input);
// The data alone, one JSON object (schema_version 1).
std::string PageData(const PageInput& input);

}  // namespace hespas::report
