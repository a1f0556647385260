// The whole pipeline: read, optimise, split, estimate, assemble, simulate - the only place where stages meet.
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "base/result.h"
#include "graph/block_graph.h"
#include "hardware/device.h"
#include "ir/module.h"
#include "result/run_result.h"
#include "split/split.h"
#include "trace/trace_graph.h"

namespace hespas::driver {

struct RunOptions {
  std::string program;
  std::string device = "A100_SXM_80GB";
  std::string system;  // empty: no network
  int64_t num_npus = 0;  // 0: what the program implies
  std::string estimator = "roofline";
  std::string optimise = "auto";
  std::string split = "auto";  // linear, individual
  bool merge = false;
  size_t block_limit = 1024;
  std::string network_backend = "analytical";
  bool strict = false;
  int threads = -1;
  std::string output;  // folder; empty: nothing is written
  std::string command_line;
};

// A program read and cut into blocks; the graph points into the module.
struct Prepared {
  std::unique_ptr<ir::Module> module;
  graph::BlockGraph blocks;
};

std::optional<Prepared> Prepare(const RunOptions& options, Diagnostics& diagnostics);

struct RunOutput {
  result::RunResult result;
  trace::TraceGraph traces;
};

// Diagnostics hold the reason where there is no output.
std::optional<RunOutput> Run(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
