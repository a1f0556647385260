// What XLA would do with a partitioned program: simplify, rewrite collectives, call libraries, fuse, combine.
//
// - The results of main keep their number and types; every pass keeps the values (up to rounding in another order).
// - Any pass can be switched off by name; `stop_after` leaves the program as it stands after that pass.
// - An already optimised program (fusions, cuBLAS and cuDNN calls) is taken over as it is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::optimise {

inline constexpr DiagnosticKind kUnknownPass{
    "E0541",
    "A pass was named that the optimiser does not have. The error lists the passes that exist, and `hespas optimise "
    "PROGRAM --format json` those that ran.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kNoMain{
    "E0542", "The optimiser starts from the function `main`; the program has none, or one without a body."};

inline constexpr DiagnosticKind kLostOrder{"E0543",
                                           "The optimiser made a program whose ops depend on each other in a cycle. "
                                           "This is a bug of Hespas, not of the input; please report it.",
                                           Outcome::kInternal};

inline constexpr DiagnosticKind kBranches{
    "E0546",
    "The optimiser takes functions of one block, with loops and conditions as ops; this one branches between blocks."};

enum class Target : uint8_t { kGpu, kTpu, kCpu };

// What a collective of one host takes: start + bytes / rate. Whoever prices collectives says so (driver).
struct CollectiveFigures {
  double start_seconds = 15.5e-6;
  double bytes_per_second = 200e9;  // of the full, unsharded buffer
  auto operator<=>(const CollectiveFigures&) const = default;
};

// What XLA's fusion weighs on a GPU; an A100 (SXM, 40 GB) unless the device says otherwise.
struct GpuFigures {
  double bytes_per_second = 1.555e12;  // of its memory, peak
  double l2_bytes = 40 << 20;
  double sm_count = 108;
  double lanes_per_sm = 64;
  double clock_hz = 1.41e9;
  int capability = 80;  // CUDA compute capability times ten
  double memory_bytes = 40e9;
  CollectiveFigures all_reduce = {.start_seconds = 22e-6, .bytes_per_second = 117e9};
  CollectiveFigures gather;  // and all others, which move the buffer once
  auto operator<=>(const GpuFigures&) const = default;
};

// What flags of XLA say, on GPUs but for the last three.
struct XlaFlags {
  // Bytes of results up to which collectives of one kind become one.
  int64_t all_gather = int64_t{128} << 20;
  int64_t reduce_scatter = int64_t{64} << 20;
  int64_t all_reduce = int64_t{30} << 20;
  // Matmuls are Triton kernels, which compute what makes their operands. XLA asks each of them on the device; without
  // autotuning all of them stay, with it cuBLAS stands for whatever is faster.
  std::optional<bool> triton_matmuls;
  bool autotuning = true;
  bool triton_rows = true;     // softmaxes and norms are one Triton kernel that holds whole rows
  bool latency_hiding = true;  // collectives are pairs of start and done, ordered so that computation overlaps
  bool plans_by_model = true;  // by a model of the device, where XLA has one (kPlansByModel); fixed ticks without
  // Collectives of a loop's body run beside the iteration before or after.
  bool pipelined_all_gather = false;
  bool pipelined_reduce_scatter = false;
  bool pipelined_all_reduce = false;
  std::vector<ir::OpKind> synchronous;  // kinds of collectives that run in the stream of the computation
  // Bytes of a dot's result from which on TPUs scatter it part by part behind partial dots (SpmdPartitionerOptions).
  int64_t windowed_einsum = int64_t{256} << 20;
  // Whether a TPU's SparseCores carry these; as the device has it where no flag says.
  std::optional<bool> sparse_core_all_reduce;
  std::optional<bool> sparse_core_reduce_scatter;

  bool HasTritonMatmuls() const { return triton_matmuls.value_or(!autotuning); }
};

// Compute capability times ten from which on XLA's latency-hiding scheduler has a model of the device (its
// speed-of-light estimator).
inline constexpr int kPlansByModel = 90;

class Decisions;  // optimise/gpu/decisions.h

struct Options {
  Target target = Target::kGpu;
  GpuFigures gpu;
  XlaFlags flags;
  int bf16_capability = 80;           // CUDA compute capability times ten: which arithmetic exists in bf16
  std::vector<std::string> disabled;  // passes to leave out
  std::string stop_after;             // last pass to run; "" runs all
  bool expand_kernels = false;        // back to plain StableHLO, for execution
  bool memory_limit = true;           // the scheduler overlaps as far as the device's memory allows
  Decisions* decisions = nullptr;     // remembers what was asked about the device
};

// Why an op went into the kernel it is in, and why a neighbour was not fused.
// Attribute of a fusion in a program that was optimised with explanations: the number that they give its kernel.
inline constexpr std::string_view kKernelNumber = "hespas.kernel";

struct Explanation {
  std::string op;      // "stablehlo.add (line 12)"
  std::string kernel;  // the kernel it went into; "none"
  std::string reason;
  ir::OpId origin;  // in the program as it was given; invalid for ops that passes made without an example
};

struct Report {
  bool explain = true;              // set before: whether explanations are wanted
  std::vector<std::string> passes;  // that ran, in order
  bool short_of_memory = false;     // the memory limit kept the scheduler from hiding latency somewhere
  std::vector<Explanation> explanations;
};

// `report` may be null; explanations are only recorded where one is given that asks for them.
Result<ir::Module> Optimise(ir::Module module, const Options& options, Diagnostics& diagnostics,
                            Report* report = nullptr);
// The same of a program that is to be optimised again: it only gains names and types that the passes made.
Result<ir::Module> OptimiseAgain(ir::Module& source, const Options& options, Report* report = nullptr);

// Whether the program already went through an optimiser: it has fusions or cuBLAS and cuDNN calls.
bool IsOptimised(const ir::Module& module);

struct PassInfo {
  std::string_view name;
  std::string_view note;
};
std::vector<PassInfo> Passes(Target target);

}  // namespace hespas::optimise
