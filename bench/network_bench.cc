// Network simulation: messages a second of the event core, and the rows for which ASTRA-sim's user seconds are recorded
// (512-rank and larger figures there: 7.2 s, 5.2 s, 7.3 s, 20.9 s).
#include <benchmark/benchmark.h>

#include "simulate/simulate.h"
#include "trace/rank_classes.h"

namespace hespas {
namespace {

using hardware::DimensionKind;
using simulate::Engine;

struct Row {
  const char* algorithm;
  DimensionKind kind;
  std::vector<uint32_t> sizes;
  int layers;
  uint32_t tensor_group = 0;  // above 0: sharded among every so many-th rank
  bool with_tensor = false;   // and all-reduces among so many neighbours
};

hardware::System SystemOf(const Row& row) {
  hardware::System system;
  system.dataset_splits = 1;
  system.memory_bandwidth = 1600;
  system.endpoint_delay = 10;
  system.optimization = hardware::CollectiveOptimization::kLocalBandwidthAware;
  for (const uint32_t size : row.sizes) {
    system.dimensions.push_back({.kind = row.kind, .npus = size, .bandwidth = 50, .latency = 500});
  }
  const auto algorithm = hardware::ParseAlgorithm(row.algorithm);
  for (auto& collective : system.collectives) collective.algorithms.emplace(row.sizes.size(), *algorithm);
  return system;
}

uint64_t Add(trace::Program& program, trace::Node node, std::vector<uint64_t> after) {
  node.id = program.nodes.size();
  node.first_dependency = static_cast<uint32_t>(program.dependencies.size());
  node.dependency_count = static_cast<uint32_t>(after.size());
  program.dependencies.insert(program.dependencies.end(), after.begin(), after.end());
  program.nodes.push_back(node);
  return node.id;
}

trace::Node CollectiveOf(trace::Collective kind, int64_t size, uint32_t group) {
  return {.kind = trace::NodeKind::kCollective, .collective = kind, .size = Bytes(size), .group = group};
}

// A step of fully sharded training: all-gather before each layer's forward pass, reduce-scatter after its backward
// pass, in `shards` (a group, 0: all ranks); with `tensor` an all-reduce of that group behind each pass.
trace::Program ShardedProgram(int layers, uint32_t shards, uint32_t tensor) {
  trace::Program program;
  std::vector<uint64_t> gathered;
  std::vector<uint64_t> computed;
  const auto pass = [&](int64_t microseconds, const std::vector<uint64_t>& after) {
    computed = {Add(program, {.duration = Time(microseconds * 1'000'000)}, after)};
    if (tensor != 0) computed = {Add(program, CollectiveOf(trace::Collective::kAllReduce, 8 << 20, tensor), computed)};
  };
  for (int layer = 0; layer < layers; ++layer) {
    gathered = {Add(program, CollectiveOf(trace::Collective::kAllGather, 1 << 20, shards), gathered)};
    std::vector<uint64_t> after = computed;
    after.push_back(gathered[0]);
    pass(50, after);
  }
  for (int layer = 0; layer < layers && layers > 1; ++layer) {
    pass(100, computed);
    Add(program, CollectiveOf(trace::Collective::kReduceScatter, 64 << 20, shards), computed);
  }
  return program;
}

trace::TraceGraph ShardedStep(const Row& row, uint32_t ranks) {
  trace::TraceGraph trace;
  if (row.tensor_group == 0) {
    trace.programs.push_back(ShardedProgram(row.layers, 0, 0));
    trace.program_of_rank.assign(ranks, 0);
    return trace;
  }
  // Neighbours form a tensor group, every so many-th rank a group of shards; each rank has a program of its own.
  const uint32_t stride = row.tensor_group;
  trace::RankClasses classes;
  std::map<uint32_t, std::vector<uint32_t>> groups;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const uint32_t shards = 1 + rank % stride;
    const uint32_t tensor = 1 + stride + rank / stride;
    groups[shards].push_back(rank);
    groups[tensor].push_back(rank);
    classes.Add(ShardedProgram(row.layers, shards, row.with_tensor ? tensor : 0));
  }
  trace = classes.Take();
  trace.groups = std::move(groups);
  return trace;
}

void Simulate(benchmark::State& state, const Row& row, Engine engine) {
  const hardware::System system = SystemOf(row);
  const trace::TraceGraph trace = ShardedStep(row, static_cast<uint32_t>(system.npus()));
  uint64_t messages = 0;
  std::string method;
  for (auto unused : state) {
    Diagnostics diagnostics;
    simulate::SimulateOptions options;
    options.engine = engine;
    const auto result = simulate::Simulate(trace, system, options, diagnostics);
    if (!result) return state.SkipWithError(result.error().message.c_str());
    messages += result->messages;
    method = result->method;
    benchmark::DoNotOptimize(result->finish());
  }
  state.SetLabel(method);
  state.counters["messages/s"] = benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
}

const Row kRing64{"ring", DimensionKind::kRing, {64}, 60};
const Row kDirect64{"direct", DimensionKind::kSwitch, {64}, 60};
const Row kDirect512{"direct", DimensionKind::kSwitch, {512}, 2};
const Row kCube512{"ring", DimensionKind::kRing, {8, 8, 8}, 60};
const Row kCube4096{"ring", DimensionKind::kRing, {8, 8, 64}, 2};
const Row kRing4096{"ring", DimensionKind::kRing, {4096}, 1};
const Row kSharded4096{"ring", DimensionKind::kRing, {8, 8, 64}, 60};
const Row kGroups4096{"ring", DimensionKind::kRing, {8, 8, 64}, 60, 8, false};
const Row kTensor4096{"ring", DimensionKind::kRing, {8, 8, 64}, 60, 8, true};
const Row kSharded131072{"ring", DimensionKind::kRing, {8, 16, 1024}, 60};
const Row kDirect131072{"direct", DimensionKind::kSwitch, {8, 16, 1024}, 60};

#define ROW(name, engine) \
  BENCHMARK_CAPTURE(Simulate, name##_##engine, name, Engine::engine)->Unit(benchmark::kMillisecond)
ROW(kRing64, kEvents);
ROW(kDirect64, kEvents);
ROW(kDirect512, kEvents);
ROW(kCube512, kEvents);
ROW(kRing4096, kEvents);
ROW(kRing64, kAuto);
ROW(kDirect64, kAuto);
ROW(kDirect512, kAuto);
ROW(kCube512, kAuto);
ROW(kCube4096, kAuto);
ROW(kRing4096, kAuto);
ROW(kSharded4096, kAuto);
ROW(kGroups4096, kAuto);
ROW(kTensor4096, kAuto);
ROW(kSharded131072, kAuto);
ROW(kDirect131072, kAuto);

}  // namespace
}  // namespace hespas
