// `hespas serve`: a model, devices, an engine and a load to what clients see, what it costs and where the time goes.
//
// - Steps are priced by the device's kernels and network, or given as constants; a discrete-event simulation
//   (src/serve) stands on top. Equal options give equal answers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/price.h"
#include "base/result.h"
#include "driver/serving/memory.h"
#include "driver/stages/device.h"
#include "report/text/table.h"
#include "serve/cluster.h"
#include "serve/load/workload.h"
#include "serve/metrics.h"
#include "serve/model/model.h"
#include "serve/profile.h"
#include "serve/step_table.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kBadServe{
    "E0718", "An option of `hespas serve` is missing, out of range or does not go with another.", Outcome::kUsage};
inline constexpr DiagnosticKind kModelTooLarge{
    "E0719",
    "The weights and the workspace of a step do not fit into the devices' memory, or leave no room for a "
    "request. More devices, fewer bytes a weight or another device hold it.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kModelDoesNotFit{
    "W0721",
    "The weights and the workspace of a step do not fit into the devices' memory. Latencies are those of a "
    "device with enough; --require-fit makes this an error."};
inline constexpr DiagnosticKind kPromptTooLong{
    "E0720", "A request's tokens exceed what the model attends to, or the cache of the whole device.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kRequestsRefused{
    "W0722",
    "Requests whose tokens exceed the model's context or the cache are refused; the figures are those of the others."};
inline constexpr DiagnosticKind kAboveCapacity{
    "E0725",
    "Requests arrive faster than the server answers them: the queue grows for as long as they do, and with it the time "
    "to the first token, so figures would say how long was simulated. --overload simulates such a rate.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kOverload{
    "W0723",
    "Requests arrive faster than the server answers them: the queue grows for as long as they do, and with "
    "it the time to the first token."};

struct ServeOptions {
  std::string model;  // a name or a config.json; may be empty with step constants
  DeviceOptions device;
  std::vector<std::string> changes;  // --set
  std::string system;                // empty: one node of the device
  int64_t devices = 1;
  std::optional<int64_t> tensor, pipeline, expert, data;
  std::string weights;  // empty: as the checkpoint, or bf16
  std::string cache = "auto";
  serve::Load load;
  int64_t warm_up = 0;
  std::string engine = "vllm";
  std::string scheduler;  // empty: the engine's
  std::optional<int64_t> max_tokens, max_requests, block, cache_blocks;
  std::optional<double> memory_fraction;
  std::optional<int64_t> context;  // longest request, instead of the model's
  int64_t scheduler_steps = 1;     // for each time that the host schedules (vLLM's --num-scheduler-steps)
  bool in_process = false;         // clients call the engine: nothing on the way in and out
  std::string admission;
  std::string preemption;
  double prefix_hit = 0;
  std::string speculative;     // "K:A"
  std::string disaggregate;    // "P:D"
  std::optional<double> link;  // bytes/s between pools; else the network's
  std::string slo;             // "ttft=2s,tpot=50ms"
  std::optional<Price> price;  // of a device and hour; else the device file's
  std::string step_model;
  std::optional<serve::StepTables> step_table;  // device times of the user's own steps
  bool require_fit = false;
  bool overload = false;  // rates above the server's capacity are simulated, with a warning
  bool record = false;    // Run::timeline
  bool give_up = false;   // no answer where the 99th percentiles cannot keep --slo
  std::string command_line;
};

struct ServeAnswer {
  std::string model;
  std::string device;
  std::string system;
  int64_t devices = 1;
  serve::Parallelism parallelism;
  std::string weights, cache, activations;
  std::string engine;
  std::string engine_version;
  serve::Figures figures;
  serve::Workload workload;
  serve::Run run;
  std::optional<ServeMemory> memory;
  double max_concurrency = 0;             // of requests that reserve what they may need
  double max_concurrency_optimistic = 0;  // that have half of their answer
  double decode_s = 0;                    // a step at the run's mean batch and context
  double prefill_s = 0;                   // of one prompt of mean length
  std::optional<double> sigma_ttft;       // relative, one standard deviation
  std::optional<double> sigma_tpot;
  bool goodput = false;        // limits were given
  std::optional<double> cost;  // of a million output tokens
  std::string currency;
  std::vector<serve::KernelTime> decode_kernels;  // of that decode step
  std::vector<Diagnostic> warnings;
  std::string command_line;
};

std::optional<ServeAnswer> Serve(const ServeOptions& options, Diagnostics& diagnostics);

std::string ToJson(const ServeAnswer& answer);
// Kernels of a decode step, longest first.
report::Table ExplainTable(const ServeAnswer& answer);
// serve.json, requests.csv and timeline.csv, and report.html from all of them.
Status WriteServeFolder(const ServeAnswer& answer, const std::string& folder);
// Rows of figure and value, for people and CSV.
std::vector<std::pair<std::string, std::string>> ToRows(const ServeAnswer& answer);

}  // namespace hespas::driver
