// The network stage: traces on a system, by the calibrated model of collectives (src/network) or a simulated network.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "driver/configuration/words.h"
#include "hardware/device.h"
#include "hardware/links/link_faults.h"
#include "hardware/system.h"
#include "network/concurrency.h"
#include "result/sim_result.h"
#include "simulate/collective/analytical.h"
#include "trace/trace_graph.h"

namespace hespas::driver {

struct RunOptions;

inline constexpr DiagnosticKind kSystemSize{
    "E0906",
    "The network has another number of NPUs than the program has devices. Choose a system with as many NPUs, or let "
    "--retarget write the program for the system's: what each device computes and exchanges then changes with it.",
    Outcome::kUsage};

enum class NetworkBackend : uint8_t { kAnalytical, kAnalyticalAware, kSimGrid, kSst, kNone };  // none: traces only
enum class NetworkModel : uint8_t { kAuto, kPlain, kCalibrated };  // plain: ASTRA-sim's; auto: as the estimator
enum class Overlap : uint8_t { kProgram, kPerfect };               // perfect: computation and communication never wait

template <>
inline constexpr std::array<Word<NetworkBackend>, 5> kWords<NetworkBackend> = {
    {{"analytical", NetworkBackend::kAnalytical},
     {"analytical-aware", NetworkBackend::kAnalyticalAware},
     {"simgrid", NetworkBackend::kSimGrid},
     {"sst", NetworkBackend::kSst},
     {"none", NetworkBackend::kNone}}};
template <>
inline constexpr std::array<Word<NetworkModel>, 3> kWords<NetworkModel> = {
    {{"auto", NetworkModel::kAuto}, {"plain", NetworkModel::kPlain}, {"calibrated", NetworkModel::kCalibrated}}};
template <>
inline constexpr std::array<Word<Overlap>, 2> kWords<Overlap> = {
    {{"program", Overlap::kProgram}, {"perfect", Overlap::kPerfect}}};

template <>
inline constexpr std::array<Word<network::CollectiveStreams>, 2> kWords<network::CollectiveStreams> = {
    {{"one", network::CollectiveStreams::kOne}, {"group", network::CollectiveStreams::kGroup}}};

struct NetworkOptions {
  NetworkBackend backend = NetworkBackend::kAnalytical;
  NetworkModel model = NetworkModel::kAuto;
  std::vector<std::string> stragglers;  // "3=1.2": NPUs that compute more slowly (driver/configuration/stragglers.h)
  hardware::LinkTexts links;            // that are slow or lost
  network::Concurrency concurrency;     // what collectives take from kernels and from each other
  Overlap overlap = Overlap::kProgram;
};

// What one simulation can leave to the next of the same traces with other durations.
struct SimulationReuse {
  const simulate::AnalyticalPlan* plan = nullptr;
  bool record_nodes = true;  // SimResult::intervals, for who looks closer than at ranks
};

// What times collectives: "calibrated", "plain" (ASTRA-sim's formulas), or the name of another backend.
std::string NetworkModelOf(const RunOptions& options);

// One warning for all settings of the user's own system file that the model will not use.
void WarnOfIgnoredSettings(const RunOptions& options, const hardware::System& system, Diagnostics& diagnostics);

// The network stage of one program's step, by the model that the options ask for.
std::optional<result::SimResult> SimulateStep(const RunOptions& options, const hardware::Device& device,
                                              const trace::TraceGraph& traces, const hardware::System& system,
                                              Diagnostics& diagnostics, const SimulationReuse& reuse = {});

}  // namespace hespas::driver
