#include "driver/compat/stand_alone.h"

#include <fmt/format.h>

#include "driver/compat/block_estimates.h"
#include "driver/compat/python_text.h"
#include "estimate/estimate_all.h"
#include "estimate/registry.h"
#include "read/read.h"
#include "split/split.h"

namespace hespas::driver::compat {
namespace {

Result<Blocks> WholeProgram(const std::string& program, Diagnostics& diagnostics) {
  auto module = read::ReadProgram(program, {}, diagnostics);
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
  for (const ir::ValueId value : blocks.module->arguments(body)) block.inputs.push_back(value);
  if (!block.ops.empty() && ir::IsTerminator(blocks.module->kind(block.ops.back()))) {
    const auto returned = blocks.module->operands(block.ops.back());
    block.outputs.assign(returned.begin(), returned.end());
    block.ops.pop_back();
  }
  return blocks;
}

}  // namespace

Result<std::string> EstimateStandAlone(const StandAloneOptions& options, const Log& log, Diagnostics& diagnostics) {
  CommandLine command = options.command;
  command.output = ".";  // configurations of hespas_chakra_gen need one; nothing is written
  auto settings = ReadSettings(command, true);
  if (!settings) return settings.error();
  settings->warn_on_unknown_type |= options.warn_on_unknown_type;
  settings->error_on_unknown_type |= options.error_on_unknown_type;
  const auto blocks = WholeProgram(settings->mlir_file, diagnostics);
  if (!blocks) return blocks.error();
  const auto estimator = estimate::MakeEstimator(settings->method, settings->device, settings->estimator);
  if (!estimator) return estimator.error();
  BlockEstimates estimates(*settings, *blocks, **estimator, nullptr, log);
  if (Status run = estimates.Run(diagnostics); !run) return run.error();
  estimate::ReportNotes(*blocks->module, estimates.notes(), false, diagnostics);
  log.Progress(log.divider());
  estimates.statistics().LogSummary(log);
  return fmt::format("Execution of module completed: {}s\n", Repr(estimates.seconds(0)));
}

}  // namespace hespas::driver::compat
