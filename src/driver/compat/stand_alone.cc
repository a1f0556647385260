#include "driver/compat/stand_alone.h"

#include <fmt/format.h>

#include <cstdlib>

#include "driver/compat/block_estimates.h"
#include "driver/compat/python_text.h"
#include "estimate/estimate_all.h"
#include "hardware/presets.h"
#include "read/read.h"
#include "split/split.h"

namespace hespas::driver::compat {
namespace {

Result<Settings> SettingsOf(const StandAloneOptions& options, Diagnostics& diagnostics) {
  if (!options.config_path.empty()) {
    // The folder is only asked for because configurations of hespas_chakra_gen need one; nothing is written.
    CommandLine command{
        .config_path = options.config_path, .mlir_file = options.program, .output = ".", .compat = options.compat};
    return ReadSettings(command, true);
  }
  Settings settings;
  settings.split.compat = options.compat;
  if (options.device.empty()) return settings;
  const auto edition = options.compat ? hardware::PresetEdition::kPrototype : hardware::PresetEdition::kCurrent;
  const auto device = hardware::LoadDevice(options.device, diagnostics, edition);
  if (!device) {
    return diagnostics.all().empty() ? MakeError(kMissingSetting, "no device " + options.device)
                                     : diagnostics.all().back();
  }
  settings.rates.peak_flops = device->peak_flops.value;
  settings.rates.memory_bandwidth = device->memory_bandwidth.value;
  for (const auto& [datatype, rate] : device->per_datatype_flops)
    settings.rates.per_datatype_flops.emplace_back(datatype, rate.value);
  return settings;
}

Status ApplyRates(const StandAloneOptions& options, Rates& rates) {
  rates.peak_flops = options.peak_flops.value_or(rates.peak_flops);
  rates.memory_bandwidth = options.memory_bandwidth.value_or(rates.memory_bandwidth);
  rates.tdp_w = options.tdp_w.value_or(rates.tdp_w);
  rates.hbm_power_ratio = options.hbm_power_ratio.value_or(rates.hbm_power_ratio);
  for (const std::string& entry : options.per_datatype_flops) {
    const size_t sign = entry.find('=');
    const double rate = sign == std::string::npos ? 0 : std::strtod(entry.c_str() + sign + 1, nullptr);
    if (!(rate >= 1)) {
      return MakeError(kBadSetting, fmt::format("`{}` is not DATATYPE=RATE", entry), {},
                       "for example --per-datatype-flops bf16=312e12");
    }
    rates.per_datatype_flops.emplace_back(entry.substr(0, sign), rate);
  }
  if (rates.peak_flops >= 1 && rates.memory_bandwidth >= 1) return {};
  return MakeError(kMissingSetting, "no peak rate or no memory bandwidth", {},
                   "give --config-file, --device, or --peak-flops and --memory-bandwidth");
}

Result<Blocks> WholeProgram(const StandAloneOptions& options, Diagnostics& diagnostics) {
  auto module = read::ReadProgram(options.program, {}, diagnostics);
  if (!module) return module.error();
  Blocks blocks;
  blocks.module = std::make_unique<ir::Module>(*std::move(module));
  const auto main = read::RequireMain(*blocks.module);
  if (!main) return main.error();
  graph::Block& block = blocks.in_order.blocks.emplace_back();
  blocks.in_order.module = blocks.module.get();
  blocks.file_index = {0};
  const ir::BlockId body = blocks.module->body(*main);
  if (!body.valid()) return blocks;
  block.ops = blocks.module->block(body).ops;
  if (!block.ops.empty() && ir::IsTerminator(blocks.module->kind(block.ops.back()))) {
    const auto returned = blocks.module->operands(block.ops.back());
    block.outputs.assign(returned.begin(), returned.end());
    block.ops.pop_back();
  }
  return blocks;
}

}  // namespace

Result<std::string> EstimateStandAlone(const StandAloneOptions& options, const Log& log, Diagnostics& diagnostics) {
  auto settings = SettingsOf(options, diagnostics);
  if (!settings) return settings.error();
  if (Status applied = ApplyRates(options, settings->rates); !applied) return applied.error();
  settings->warn_on_unknown_type |= options.warn_on_unknown_type;
  settings->error_on_unknown_type |= options.error_on_unknown_type;
  const auto blocks = WholeProgram(options, diagnostics);
  if (!blocks) return blocks.error();
  BlockEstimates estimates(*settings, *blocks, log);
  if (Status run = estimates.Run(); !run) return run.error();
  estimate::ReportNotes(*blocks->module, estimates.notes(), false, diagnostics);
  log.Progress(log.divider());
  estimates.statistics().LogSummary(log);
  return fmt::format("Execution of module completed: {}s\n", Repr(estimates.seconds(0)));
}

}  // namespace hespas::driver::compat
