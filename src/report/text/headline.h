// The headline of a run: what the terminal, CSV, pages and Python say first, from one place.
#pragma once

#include <string>
#include <vector>

#include "report/text/efficiency.h"
#include "report/text/table.h"
#include "result/run_result.h"

namespace hespas::report {

// "calibrated estimator, calibrated network model, --optimise auto": what made the figures.
std::string ModelsLine(const result::RunResult& result);

// What is said first of a run, in 80 columns: program, devices, models, step +- sigma with its parts, throughput,
// utilisation, memory, energy and money. `colour`: warnings in red, for a terminal.
std::string HeadlineText(const result::RunResult& result, bool colour = false);
// "MFU          19.8 %  without recomputation": label, figure and note in the headline's columns.
std::string LineText(const FigureLine& line);

// Energy, and money where there is a price: of a million tokens or samples where the program tells its batch, else of
// a step.
std::vector<FigureLine> CostLines(const result::RunResult& result);

// The changes that shorten the step most, best first.
inline constexpr size_t kHeadlineWhatIfs = 3;
std::vector<result::WhatIf> BestWhatIfs(const result::RunResult& result, size_t most = kHeadlineWhatIfs);
// The same with what they give: change, step, gain, option.
Table WhatIfTable(const result::RunResult& result);

// "3.2 EUR", "0.0123 USD".
std::string HumanMoney(double amount, const std::string& currency);
// "22.1 kJ".
std::string HumanEnergy(double joules);

}  // namespace hespas::report
