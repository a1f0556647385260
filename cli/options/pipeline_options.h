// Options that run, split, estimate and trace have in common.
#pragma once

#include <functional>
#include <string>

#include "cli/command.h"
#include "driver/pipeline/run.h"

namespace hespas::cli {

// A text that `take` reads; `standard` is the one that stands for what is set.
CLI::Option* AddTextOption(CLI::App& command, const std::string& name,
                           const std::function<void(const std::string&)>& take,
                           const std::function<std::string()>& standard, const std::string& description);

// One of the words of an enumeration (driver/configuration/words.h).
template <class Value>
CLI::Option* AddWordOption(CLI::App& command, const std::string& name, Value& value, const std::string& description) {
  const auto take = [&value](const std::string& text) { value = *driver::ValueOf<Value>(text); };
  const auto standard = [&value] { return std::string(driver::TextOf(value)); };
  return AddTextOption(command, name, take, standard, description)->check(OneOf(driver::TextsOf<Value>()));
}

CLI::Option* AddProgramOption(CLI::App& command, driver::RunOptions& options);
void AddSplitOptions(CLI::App& command, driver::RunOptions& options);
// Accepts the values of --optimise.
CLI::Validator IsOptimisation();
// --price.
void AddPriceOption(CLI::App& command, std::optional<Price>& price);
// Of estimators that measure.
void AddProfileOptions(CLI::App& command, estimate::ProfileOptions& profile);
// External tools and their limits.
void AddToolOptions(CLI::App& command, estimate::EstimatorOptions& options);
// What belongs to an estimate beside device, estimator and optimisation.
void AddModelOptions(CLI::App& command, driver::RunOptions& options);
// Flags that --optimise follows.
void AddXlaFlagOption(CLI::App& command, std::vector<std::string>& flags);
void AddScheduleLimitOption(CLI::App& command, bool& limit);
// All of it.
void AddEstimateOptions(CLI::App& command, driver::RunOptions& options);
// --output and --clean.
void AddOutputOption(CLI::App& command, driver::RunOptions& options, const std::string& description);
// --expand and --rank-classes.
void AddTraceFileOptions(CLI::App& command, report::TraceFiles& form);
void AddBackendOption(CLI::App& command, driver::RunOptions& options);
// --system and the backend.
void AddNetworkOptions(CLI::App& command, driver::RunOptions& options);
void AddTraceOptions(CLI::App& command, driver::RunOptions& options);
// What collectives take from kernels and from each other.
void AddConcurrencyOptions(CLI::App& command, network::Concurrency& concurrency);
// --network-model and --overlap.
void AddCollectiveOptions(CLI::App& command, driver::NetworkOptions& network);
// What a program does not say, and --retarget.
void AddAssumptionOptions(CLI::App& command, driver::Assumptions& assumptions);

}  // namespace hespas::cli
