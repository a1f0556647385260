#include "driver/inspect/ptx.h"

#include <fmt/format.h>

#include <chrono>

#include "base/system/file.h"
#include "estimate/ptx/iree_program.h"
#include "estimate/ptx/ptx_model.h"
#include "read/read.h"

namespace hespas::driver {
namespace {

namespace ptx = estimate::ptx;

using Kernels = Result<std::vector<ptx::KernelTime>>;

Result<ptx::Extent> ExtentOf(const std::vector<int64_t>& sizes, const char* option) {
  ptx::Extent extent = {1, 1, 1};
  if (sizes.empty() || sizes.size() > 3)
    return MakeError(kNeedsGrid, fmt::format("{} takes one to three sizes", option));
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) return MakeError(kNeedsGrid, fmt::format("{} holds {}", option, sizes[i]));
    extent[i] = sizes[i];
  }
  return extent;
}

Kernels OfText(const PtxQuestion& question, const hardware::Device& device) {
  if (Status fit = ptx::CheckDevice(device); !fit) return fit.error();
  const auto text = ReadInput(question.input);
  if (!text) return text.error();
  const auto kernels = ptx::ReadPtx(*text, question.input);
  if (!kernels) return kernels.error();
  const auto grid = ExtentOf(question.grid, "--grid");
  if (!grid) return grid.error();
  std::vector<ptx::KernelTime> times;
  for (const ptx::Kernel& kernel : *kernels) {
    const auto block = kernel.block && question.block.empty() ? *kernel.block : ExtentOf(question.block, "--block");
    if (!block) return block.error();
    const auto time = ptx::TimeOf(
        {.kernel = kernel, .launch = {.grid = *grid, .block = *block}, .dynamic_shared = question.shared_bytes},
        device);
    if (!time) return time.error();
    times.push_back(*time);
  }
  return times;
}

Kernels OfProgram(const ir::Module& module, const RunOptions& run, const hardware::Device& device) {
  const auto limit = std::chrono::milliseconds(static_cast<int64_t>(run.estimate.settings.tool_limit_s * 1000));
  const auto coster = ptx::KernelCoster::Make(device, {.compiler = run.estimate.settings.tool_path,
                                                       .kernel_simulator = run.estimate.settings.kernel_simulator,
                                                       .clock_hz = run.estimate.settings.tool_clock_hz,
                                                       .limit = limit});
  if (!coster) return coster.error();
  const auto main = read::RequireMain(module);
  if (!main) return main.error();
  graph::Block block;
  const ir::BlockId body = module.body(*main);
  for (const ir::ValueId argument : module.arguments(body)) block.inputs.push_back(argument);
  for (const ir::OpId op : module.block(body).ops) {
    if (!ir::IsTerminator(module.kind(op))) {
      block.ops.push_back(op);
    } else {
      block.outputs.assign(module.operands(op).begin(), module.operands(op).end());
    }
  }
  const auto program = ptx::IreeProgram(module, block);
  if (!program) {
    return MakeError(ptx::kCompilerFailed,
                     "`main` must hold computations of one device: no calls, loops or collectives",
                     {.file = module.path()});
  }
  return coster->Cost(*program);
}

std::string Text(const ptx::Extent& extent) { return fmt::format("{}x{}x{}", extent[0], extent[1], extent[2]); }

report::Table AsTable(const std::vector<ptx::KernelTime>& kernels) {
  report::Table table;
  table.columns = {{"kernel"}, {"grid"}, {"block"}};
  for (const char* name : {"tensor_per_block", "arithmetic_per_block", "memory_per_block", "tensor", "arithmetic",
                           "memory", "instructions", "tensor_flops", "l2_bytes", "memory_bytes", "registers",
                           "shared_bytes", "blocks_per_sm", "waves", "time_us"}) {
    table.columns.push_back({.name = name, .align = report::Align::kRight});
  }
  table.columns.push_back({"bound"});
  for (const ptx::KernelTime& k : kernels) {
    const double tensor = k.counts.at(ptx::Unit::kTensor), arithmetic = k.counts.arithmetic(),
                 memory = k.counts.memory();
    const auto blocks = static_cast<double>(ptx::Volume(k.grid));
    std::vector<std::string> row = {k.kernel, Text(k.grid), Text(k.block)};
    for (const double value :
         {tensor, arithmetic, memory, blocks * tensor, blocks * arithmetic, blocks * memory, blocks * k.counts.all(),
          blocks * k.counts.tensor_flops, k.l2_bytes, k.memory_bytes, static_cast<double>(k.registers),
          static_cast<double>(k.shared_bytes), static_cast<double>(k.blocks_per_sm), k.waves, k.seconds * 1e6}) {
      row.push_back(fmt::format("{:.10g}", value));
    }
    row.push_back(k.bound);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::optional<report::Table> PtxTable(const PtxQuestion& question, const RunOptions& run, Diagnostics& diagnostics) {
  const auto device = DeviceOf(run, diagnostics);
  if (!device) return std::nullopt;
  const auto finish = [&](const Kernels& kernels) -> std::optional<report::Table> {
    if (kernels) return AsTable(*kernels);
    diagnostics.Report(kernels.error());
    return std::nullopt;
  };
  if (question.input.ends_with(".ptx")) return finish(OfText(question, *device));
  const auto module = ReadModule(question.input, nullptr, diagnostics);
  return module ? finish(OfProgram(*module, run, *device)) : std::nullopt;
}

}  // namespace hespas::driver
