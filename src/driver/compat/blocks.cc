#include "driver/compat/blocks.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json.h"
#include "driver/compat/chakra_gen.h"
#include "driver/compat/python_text.h"
#include "driver/compat/trace_bytes.h"
#include "driver/pipeline/output.h"
#include "estimate/roofline/prototype_roofline.h"
#include "graph/block_module.h"
#include "ir/facts/fusion.h"
#include "ir/printer.h"
#include "read/read.h"

namespace hespas::driver::compat {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The corrected split in the prototype's terms, so that both take the same way from here.
split::PrototypeGraph AsGraph(const graph::BlockGraph& blocks) {
  split::PrototypeGraph out;
  out.blocks.resize(blocks.blocks.size());
  for (uint32_t i = 0; i < blocks.blocks.size(); ++i) {
    out.blocks[i].kind = blocks.blocks[i].kind;
    for (const graph::BlockId p : blocks.blocks[i].predecessors) {
      out.blocks[i].predecessors.push_back(p.value);
      out.blocks[p.index()].successors.push_back(i);
    }
    out.trace_order.push_back(i);
  }
  return out;
}

// Block numbers count the blocks that are not empty, in graph order.
void NumberFiles(Blocks& blocks) {
  std::vector<size_t> number(blocks.graph.blocks.size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < blocks.graph.blocks.size(); ++i) {
    const split::PrototypeBlock& block = blocks.graph.blocks[i];
    if (block.empty) continue;
    number[i] = next++;
    for (const uint32_t s : block.successors) blocks.edge_count += !blocks.graph.blocks[s].empty;
  }
  for (const uint32_t i : blocks.graph.trace_order) blocks.file_index.push_back(number[i]);
}

void LogHead(const Settings& settings, const ir::Module& module, const Log& log) {
  size_t ops = 0;
  const ir::OpId main = module.main();
  if (main.valid() && module.body(main).valid()) {
    for (const ir::OpId op : module.block(module.body(main)).ops) ops += ExpandedCount(module, op);
  }
  log.Info(log.divider());
  log.Info(fmt::format("Input file          | {}", settings.mlir_file));
  log.Info(fmt::format("Number of ops:      | {}", ops));
  log.Info(fmt::format("Split strategy      | {}", settings.split_name));
  log.Info(log.divider());
}

void LogProgress(size_t done, Clock::time_point start, const Log& log) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double seconds = std::max(SecondsSince(start), 1e-6);
  const auto whole = static_cast<int64_t>(seconds);
  log.Info(
      fmt::format("Generating MLIR Modules: {}modules [{:02}:{:02}:{:02}, {:.6g}modules/s, Mem cur:{}MiB peak:{}MiB]",
                  done, whole / 3600, whole / 60 % 60, whole % 60, static_cast<double>(done) / seconds,
                  usage.ru_maxrss / 1024, usage.ru_maxrss / 1024));
}

// One line a block (the prototype's --print_meta stops with an error here).
void LogBlocks(const Blocks& blocks, const Log& log) {
  for (size_t i = 0; i < blocks.in_order.blocks.size(); ++i) {
    const graph::Block& block = blocks.in_order.blocks[i];
    const bool compute = block.kind == graph::BlockKind::kCompute;
    log.Results(fmt::format("{}: {}, {} ops, {} inputs, {} outputs", blocks.FileName(i),
                            compute ? "COMP_NODE" : "COMM_COLL_NODE", block.ops.size(), block.inputs.size(),
                            block.outputs.size()));
  }
}

}  // namespace

size_t ExpandedCount(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) == ir::OpKind::kFusion) return ir::FusedOps(module, op).size();
  if (module.kind(op) == ir::OpKind::kFuncCall) return estimate::PrototypeExpansion(module, op).size();
  return 1;
}

Status PrepareOutput(const Settings& settings, const Log& log) {
  std::error_code error;
  const bool cleaned = settings.clean && std::filesystem::exists(settings.output_dir, error);
  if (Status prepared = PrepareFolder(settings.output_dir, settings.clean); !prepared) return prepared;
  if (cleaned) log.Info(fmt::format("Cleaned output directory: {}", settings.output_dir));
  log.Info(fmt::format("Created output directory: {}", settings.output_dir));
  return {};
}

Result<Blocks> MakeBlocks(const Settings& settings, const Log& log, Diagnostics& diagnostics) {
  log.Info(fmt::format("MLIRAnalyzer: Parsing mlir_file: {}", settings.mlir_file));
  auto module = read::ReadProgram(settings.mlir_file, {}, diagnostics);
  if (!module) return module.error();
  Blocks blocks;
  blocks.module = std::make_unique<ir::Module>(*std::move(module));
  LogHead(settings, *blocks.module, log);
  if (settings.split.compat) {
    auto graph = split::SplitAsPrototype(*blocks.module, settings.split);
    if (!graph) return graph.error();
    blocks.graph = *std::move(graph);
    blocks.in_order = split::InTraceOrder(*blocks.module, blocks.graph);
  } else {
    auto graph = split::Split(*blocks.module, settings.split, diagnostics);
    if (!graph) return graph.error();
    blocks.in_order = *std::move(graph);
    blocks.graph = AsGraph(blocks.in_order);
  }
  NumberFiles(blocks);
  const std::filesystem::path folder = settings.output_dir;
  const std::string dot = (folder / "dependency_graph.dot").string();
  if (Status written = WriteFileAtomically(dot, DotText(blocks.graph)); !written) return written.error();
  log.Info(fmt::format("Dependency graph saved to {}", dot));
  log.Info(fmt::format("Number of splits: {}", blocks.graph.blocks.size()));
  log.Info("Creating new MLIR modules for each split:");
  const auto start = Clock::now();
  const std::string functions = (folder / "private_functions.mlir").string();
  log.Info(fmt::format("Saving private functions to: {}", functions));
  const std::string text = ir::PrintGeneric(graph::PrivateFunctions(*blocks.module));
  if (Status written = WriteFileAtomically(functions, text); !written) return written.error();
  LogProgress(1, start, log);
  LogProgress(blocks.graph.blocks.size() - blocks.graph.empty_count(), start, log);
  log.Info(fmt::format("Removed {} empty mlir nodes from dependency graph", blocks.graph.empty_count()));
  if (settings.split.compat) {
    log.Info(fmt::format("Dependency graph pickled and saved to {}", (folder / "dependency_graph.pkl").string()));
  }
  return blocks;
}

Status WriteBlockModules(const Settings& settings, const Blocks& blocks) {
  const ir::Module& module = *blocks.module;
  const auto types = [&](const std::vector<ir::ValueId>& values) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ir::ValueId value : values) list.push_back(module.types().Text(module.type_id(value)));
    return list;
  };
  const std::filesystem::path folder = settings.output_dir;
  for (size_t i = 0; i < blocks.in_order.blocks.size(); ++i) {
    const graph::Block& block = blocks.in_order.blocks[i];
    if (block.kind != graph::BlockKind::kCompute) continue;
    const std::filesystem::path path = folder / blocks.FileName(i);
    const std::string text = ir::PrintGeneric(graph::BlockModule(module, block));
    if (Status written = WriteFileAtomically(path, text); !written) return written;
    const nlohmann::ordered_json description = {{"block_type", "NodeType.COMP_NODE"},
                                                {"input_dims", types(block.inputs)},
                                                {"output_dims", types(block.outputs)},
                                                {"module_file", path.string()},
                                                {"op_count", block.ops.size() + 1},
                                                {"parent_module", settings.mlir_file},
                                                {"collective", nullptr},
                                                {"id", blocks.file_index[i]}};
    std::filesystem::path json = path;
    if (Status written = WriteFileAtomically(json.replace_extension(".json"), JsonText(description, 4)); !written)
      return written;
  }
  return {};
}

Status SplitProgram(const CommandLine& command, const Log& log, Diagnostics& diagnostics) {
  auto settings = ReadSettings(command, false);
  if (!settings) return settings.error();
  if (Status made = MakeFolder(settings->output_dir); !made) return made;
  auto blocks = MakeBlocks(*settings, log, diagnostics);
  if (!blocks) return blocks.error();
  if (command.print_metadata) LogBlocks(*blocks, log);
  return WriteBlockModules(*settings, *blocks);
}

}  // namespace hespas::driver::compat
