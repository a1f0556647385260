// The whole pipeline: read, optimise, split, estimate, assemble, simulate - the only place where stages meet.
//
// - Each function takes what the stage before made; diagnostics hold the reason where nothing is returned.
// - Blocks point into the module, so both live in one Prepared.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/content.h"
#include "base/diagnostic.h"
#include "base/progress.h"
#include "driver/configuration/assumptions.h"
#include "estimate/estimator.h"
#include "estimate/facts.h"
#include "estimate/profile/profile_options.h"
#include "graph/block_graph.h"
#include "graph/estimate_table.h"
#include "hardware/device.h"
#include "hardware/device_figures.h"
#include "hardware/system.h"
#include "ir/module.h"
#include "report/export/trace_files.h"
#include "result/run_result.h"
#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNeedsSystem{
    "E0905",
    "The program communicates, but no network was named and none ships for that device and number of NPUs. Name one "
    "with --system, or leave the network out with --network-backend none.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kSystemSize{
    "E0906",
    "The network has another number of NPUs than the run. Choose a system with as many NPUs, or set --num-npus.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kNoCommunication{
    "W0901", "The program has no collectives. It is estimated as one device's program, and the network has no effect."};
inline constexpr DiagnosticKind kNotPartitioned{
    "W0986",
    "The program is for several devices and says how its values are sharded, but no partitioner has applied that: it "
    "has "
    "no exchanges, and its shapes are those of the whole. Estimate what each device runs instead: the partitioned "
    "program of `hespas export`, or `hespas shard`."};
inline constexpr DiagnosticKind kNotSteady{
    "W0903",
    "A loop has too many iterations to simulate all of them, and the simulated ones did not reach a steady state. The "
    "others count as long as the last simulated ones."};

struct RunOptions {
  std::string program;
  std::shared_ptr<const std::string> content;  // of the program, where it is in memory; `program` then only names it
  std::string device = "A100_SXM_80GB";
  hardware::DeviceFigures figures;  // instead of those of the device's file
  std::string system = "auto";      // one node of the device
  uint32_t num_npus = 0;            // 0: what the program implies
  std::string estimator = "calibrated";
  std::shared_ptr<const estimate::Estimator> custom_estimator;  // in place of the named one
  std::string fallback = "calibrated";                          // costs what the estimator cannot
  std::string tool_path;                                        // of an external simulator; empty: found in PATH
  std::string tool_config;                                      // its description of the hardware
  std::string tool_mapping;                                     // of zigzag_onnx
  std::optional<double> tool_clock_hz;                          // of the simulated hardware
  int tool_chips = 1;                                           // of cocossim
  double tool_limit_s = 60;                                     // of one answer of an external tool
  estimate::ProfileOptions profile;                             // of estimators that measure
  std::string kernel_simulator;                                 // of ptx: simulates single kernels
  std::string dataflow = "ws";                                  // of scalesim: weights stay, or outputs ("os")
  std::string optimise = "auto";                                // none, xla-gpu, xla-tpu, xla-cpu
  std::vector<std::string> xla_flags;  // that the optimiser follows (driver/configuration/xla_flags.h)
  std::string split = "auto";          // linear, individual, fusion
  bool merge = false;
  size_t block_limit = 1024;
  std::string separator = "communication";
  std::string separator_policy = "ISOLATED";           // END_BLOCK, START_BLOCK
  std::string separator_node_type = "COMM_COLL_NODE";  // COMP_NODE
  std::string network_backend = "analytical";          // simgrid: its flows; none: traces only
  std::string network_model = "auto";                  // plain (ASTRA-sim's), calibrated; auto: as the estimator
  std::map<std::string, double> constants;             // that replace the device's own
  std::vector<std::string> stragglers;  // "3=1.2": NPUs that compute more slowly (driver/configuration/stragglers.h)
  std::string cache = "memory";         // none, memory (equal blocks of this run), or a file kept across runs
  bool compat = false;                  // the Python prototype's choices and defects
  Assumptions assumptions;
  bool strict = false;
  bool require_fit = false;                // more memory than the device has is an error
  std::vector<std::string> more_programs;  // of further parts (driver/pipeline/parts.h)
  std::vector<std::string> devices;        // one for each part; fewer: `device`
  std::vector<std::string> placement;      // NPUs of each part
  std::vector<std::string> rank_devices;   // "4-7=H100_80GB": devices that differ from `device`
  bool one_of_several = false;             // sends and receives may meet another program's
  std::string output;                      // folder; empty: nothing is written
  bool clean = false;                      // empty it first
  report::TraceFiles trace_files = report::TraceFiles::kAuto;
  std::vector<std::string>
      changes;  // of the device and the network, "device.memory_bandwidth=2x" (driver/configuration/changes.h)
  std::string overlap = "program";  // perfect: computation and communication never wait for each other
  bool flash_attention = false;     // attention scores never leave the chip (driver/what_if/flash_attention.h)
  bool report = true;               // with an output folder: report.html and timeline.pftrace too
  int64_t loop_window = 0;          // split::Options; 0: loops are laid out in full
  bool list_blocks = false;         // what each block adds to the step, as result.json holds it
  bool explain = false;             // critical path and exposed part of each collective
  bool what_if = true;              // with an output folder: what other devices and networks would give
  std::string command_line;
  Progress* progress = nullptr;  // of estimates and the what-if table
};

struct Prepared {
  hardware::Device device;
  std::string sha256;
  int64_t ops = 0;  // of main, as read
  std::unique_ptr<ir::Module> module;
  graph::BlockGraph blocks;
  std::string split;       // the strategy that was used
  bool scheduled = false;  // as read, a compiler's result: its order is a schedule
  bool optimised = false;  // passes ran, and they ask the device
  bool on_cpu = false;     // the memory that XLA's CPU compiler would take
};

struct Estimated {
  graph::EstimateTable table;
  std::vector<result::OpSummary> ops;       // costliest first
  std::vector<std::vector<Time>> op_times;  // of each distinct block, by op
};

// A program as it was read, with what the user assumes about it.
struct ReadProgram {
  ir::Module module;
  std::string sha256;
  int64_t ops = 0;         // of main
  bool scheduled = false;  // a compiler's result
};

// The device with the figures that replace those of its file.
std::optional<hardware::Device> DeviceOf(const RunOptions& options, Diagnostics& diagnostics);
// DeviceOf with the run's constants and changes.
std::optional<hardware::Device> ChangedDeviceOf(const RunOptions& options, Diagnostics& diagnostics);
std::optional<ReadProgram> ReadProgramOf(const RunOptions& options, Diagnostics& diagnostics);
// --optimise as the estimator leaves it: what measures blocks, and the prototype, take `auto` for `none`.
std::string OptimiseModeOf(const RunOptions& options);
// `sha256` may be null.
std::optional<ir::Module> ReadModule(const std::string& path, std::string* sha256, Diagnostics& diagnostics);
// The same for bytes that are in memory; `path` is only a name.
std::optional<ir::Module> ReadModule(const std::string& path, Content content, std::string* sha256,
                                     Diagnostics& diagnostics);
std::optional<Prepared> Prepare(const RunOptions& options, Diagnostics& diagnostics);
// Cuts the module into blocks again.
bool SplitBlocks(const RunOptions& options, Prepared& prepared, Diagnostics& diagnostics);
// nullptr where the options name none; `facts` may be nullptr (estimate/facts.h).
std::shared_ptr<const estimate::Estimator> EstimatorOf(const RunOptions& options, const hardware::Device& device,
                                                       std::shared_ptr<const estimate::Facts> facts,
                                                       Diagnostics& diagnostics);
// Without `by_op` the ops and their times are left out.
std::optional<Estimated> EstimateBlocks(const RunOptions& options, const Prepared& prepared, Diagnostics& diagnostics,
                                        bool by_op = true);
// `system`: the named one, or nullptr; a program without collectives runs on all its NPUs.
std::optional<trace::TraceGraph> AssembleTraces(const RunOptions& options, const Prepared& prepared,
                                                const Estimated& estimated, const hardware::System* system,
                                                Diagnostics& diagnostics);
// The preset that joins `npus` such devices in one node; empty: none does.
std::string NodePresetOf(const std::string& device, size_t npus);
// What the device's own interconnect joins.
std::optional<hardware::System> NodeOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics);
// One node of `npus` such devices: the preset of that name, else what the device's own interconnect joins.
std::optional<hardware::System> SystemOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics);
// Whether the system has as many NPUs as the traces; reports where it has not.
bool HasSizeOf(const hardware::System& system, const trace::TraceGraph& traces, Diagnostics& diagnostics);
std::optional<result::SimResult> SimulateTraces(const RunOptions& options, const trace::TraceGraph& traces,
                                                const hardware::System& system, Diagnostics& diagnostics,
                                                bool record_nodes = true);

// All of them; with an output folder also writes traces, statistics and result.json.
std::optional<result::RunResult> Run(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
