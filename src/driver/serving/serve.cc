#include "driver/serving/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"
#include "driver/serving/priced_steps.h"
#include "driver/serving/resolve.h"
#include "driver/stages/run_options.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

// What stays the same for all loads of one server.
struct Server {
  std::optional<serve::Model> model;
  std::optional<hardware::Device> device;
  std::optional<hardware::System> system;
  Layout layout;
  serve::Precision precision;
  serve::EngineProfile engine;
  std::optional<ServeMemory> memory;
  std::unique_ptr<KernelPrices> prices;
  std::unique_ptr<serve::StepModel> steps;
  double transfer_s_per_token = 0;
  int64_t engines() const { return layout.prefill > 0 ? layout.prefill + layout.decode : layout.replicas; }
};

bool LoadHardware(const ServeOptions& options, Server& server, Diagnostics& diagnostics) {
  RunOptions run;
  run.device = options.device;
  run.changes = options.changes;
  server.device = ChangedDeviceOf(run, diagnostics);
  return server.device.has_value();
}

bool LoadNetwork(const ServeOptions& options, Server& server, Diagnostics& diagnostics) {
  const auto npus = static_cast<size_t>(options.devices);
  if (npus < 2) return true;
  server.system = options.system.empty() ? SystemOfDevice(*server.device, npus, diagnostics)
                                         : LoadSystemPreset(options.system, diagnostics);
  if (!server.system) return false;
  const Status changed = ChangeSystem(options.changes, *server.system);
  if (!changed) diagnostics.Report(changed.error());
  return changed.ok();
}

// Constants stand for whole steps, the host included.
bool UseConstants(const ServeOptions& options, Server& server, Diagnostics& diagnostics) {
  const auto model = serve::LinearStepModel::Parse(options.step_model);
  if (!model) {
    diagnostics.Report(model.error());
    return false;
  }
  server.steps = std::make_unique<serve::LinearStepModel>(*model);
  server.engine.policy.overheads = {};
  return true;
}

bool UseKernels(Server& server, Diagnostics& diagnostics) {
  const auto& parameters = estimate::calibrated::DefaultParameters();
  const auto& links = network::DefaultNetworkConstants();
  if (!parameters || !links) {
    diagnostics.Report(parameters ? links.error() : parameters.error());
    return false;
  }
  const serve::StepKernels kernels(*server.model, server.layout.parallelism, server.precision);
  server.prices =
      std::make_unique<KernelPrices>(*server.device, *parameters, *links, server.system ? &*server.system : nullptr,
                                     serve::FactsOf(server.precision.weights));
  server.steps = std::make_unique<PricedSteps>(
      kernels, *server.prices,
      PricedSteps::Graphs{.step = server.engine.graph_step, .largest = server.engine.graph_largest});
  return true;
}

void SetTransfer(const ServeOptions& options, Server& server) {
  if (server.layout.prefill == 0 || !server.model) return;
  const serve::StepKernels kernels(*server.model, server.layout.parallelism, server.precision);
  const double bytes = kernels.CacheBytesPerToken();
  const double ranks = static_cast<double>(server.layout.replica_devices());
  constexpr double kTokens = 1e6;  // long enough that no latency counts
  if (options.link) {
    server.transfer_s_per_token = bytes * ranks / *options.link;
  } else if (server.prices) {
    server.transfer_s_per_token = server.prices->LinkSeconds(bytes * kTokens) / kTokens;
  }
}

// Fills memory and blocks; false where the model must fit and does not.
bool FillMemory(const ServeOptions& options, Server& server, Diagnostics& diagnostics) {
  serve::Policy& policy = server.engine.policy;
  if (server.model && server.device) {
    const serve::StepKernels kernels(*server.model, server.layout.parallelism, server.precision);
    const int64_t ranks = server.layout.data_within ? server.layout.parallelism.data : 1;
    server.memory = MemoryOf(*server.device, kernels, server.engine, ranks);
    policy.blocks = server.memory->blocks;
    if (!server.memory->fits) {
      const double all = kernels.WeightBytes() * static_cast<double>(server.layout.replica_devices());
      const double room = server.memory->capacity * server.engine.memory_fraction - server.memory->workspace;
      const std::string message =
          fmt::format("{}: {:.1f} GB of weights and {:.1f} GB of workspace a device, of {:.1f} GB", server.model->name,
                      server.memory->weights / 1e9, server.memory->workspace / 1e9, server.memory->capacity / 1e9);
      const std::string help =
          room > 0 ? fmt::format("{} such devices would hold it", static_cast<int64_t>(std::ceil(all / room * 1.05)))
                   : "take a device with more memory";
      if (options.require_fit) return diagnostics.Error(kModelTooLarge, message, {}, help), false;
      diagnostics.Warning(kModelDoesNotFit, message, {}, help);
    }
  }
  if (options.cache_blocks) policy.blocks = *options.cache_blocks;
  return true;
}

std::optional<Server> MakeServer(const ServeOptions& options, Diagnostics& diagnostics) {
  Server server;
  const auto data = hardware::DataFolder();
  if (!data) return diagnostics.Report(data.error()), std::nullopt;
  if (!options.model.empty()) {
    server.model = serve::LoadModel(options.model, (*data / "serving" / "models.json").string(), diagnostics);
    if (!server.model) return std::nullopt;
  } else if (options.step_model.empty()) {
    diagnostics.Error(kBadServe, "there is no model", {}, "name one: hespas serve llama3-8b --device H100_80GB ...");
    return std::nullopt;
  }
  if (options.device.name.empty() && options.step_model.empty()) {
    diagnostics.Error(kBadServe, "there is no --device", {}, "`hespas devices` lists them");
    return std::nullopt;
  }
  const bool hardware = !options.device.name.empty();
  if (hardware && !LoadHardware(options, server, diagnostics)) return std::nullopt;
  const auto layout = ResolveLayout(options, server.model ? &*server.model : nullptr, diagnostics);
  if (!layout) return std::nullopt;
  server.layout = *layout;
  if (hardware && !LoadNetwork(options, server, diagnostics)) return std::nullopt;
  const auto engine = ResolveEngine(options, server.device ? ReportedCapacity(*server.device) : 0, diagnostics);
  if (!engine) return std::nullopt;
  server.engine = *engine;
  server.engine.policy.stages = layout->parallelism.pipeline;
  if (server.model) {
    const auto precision = ResolvePrecision(options, *server.model, server.engine, diagnostics);
    if (!precision) return std::nullopt;
    server.precision = *precision;
  }
  const bool constants = !options.step_model.empty();
  if (!(constants ? UseConstants(options, server, diagnostics) : UseKernels(server, diagnostics))) return std::nullopt;
  if (!FillMemory(options, server, diagnostics)) return std::nullopt;
  SetTransfer(options, server);
  return server;
}

// Requests that the model or the cache can never hold.
bool RefuseLong(const Server& server, serve::Workload& workload, Diagnostics& diagnostics) {
  const int64_t context = server.model ? server.model->context : 0;
  const serve::Policy& policy = server.engine.policy;
  const int64_t cache = policy.blocks > 0 ? policy.blocks * policy.block : 0;
  const int64_t limit = context > 0 && cache > 0 ? std::min(context, cache) : std::max(context, cache);
  if (limit == 0) return true;
  const size_t before = workload.requests.size();
  const int64_t longest = workload.Longest();
  std::erase_if(workload.requests, [&](const serve::Request& r) { return r.input + r.output > limit; });
  const size_t refused = before - workload.requests.size();
  if (refused == 0) return true;
  const std::string what = limit == context ? "the model attends to" : "the cache holds";
  if (workload.requests.empty()) {
    diagnostics.Error(kPromptTooLong, fmt::format("requests of {} tokens: {} {}", longest, what, limit), {},
                      limit == context ? "shorten --isl and --osl" : "more devices, or fewer bytes of weights");
    return false;
  }
  diagnostics.Warning(kRequestsRefused,
                      fmt::format("{} of {} requests are refused: {} {} tokens", refused, before, what, limit));
  return true;
}

struct Means {
  double input = 0;
  double output = 0;
};

Means MeansOf(const serve::Workload& workload) {
  Means means;
  const auto count = static_cast<double>(std::max<size_t>(workload.requests.size(), 1));
  for (const serve::Request& request : workload.requests) {
    means.input += static_cast<double>(request.input) / count;
    means.output += static_cast<double>(request.output) / count;
  }
  return means;
}

double PromptSeconds(const Server& server, double tokens) {
  double seconds = 0;
  const auto budget = static_cast<double>(server.engine.policy.max_tokens);
  for (double done = 0; done < tokens;) {
    const double chunk = std::min(budget, tokens - done);
    serve::StepShape step{.prompt_tokens = chunk, .prompt_requests = 1};
    step.prompt_context = done + chunk;
    step.prompt_pairs = chunk * (done + (chunk + 1) / 2);
    done += chunk;
    step.prompt_ends = done >= tokens ? 1 : 0;
    seconds += server.steps->CostOf(step).seconds;
  }
  return seconds;
}

void FillSteps(const Server& server, const Means& means, ServeAnswer& answer) {
  const double batch = std::max(answer.figures.mean_batch, 1.0);
  const double rows = batch * static_cast<double>(1 + server.engine.policy.speculation.drafts);
  answer.decode_s = server.steps
                        ->CostOf({.decode_requests = batch,
                                  .decode_rows = rows,
                                  .decode_context = batch * (means.input + means.output / 2)})
                        .seconds;
  answer.prefill_s = PromptSeconds(server, means.input);
}

void FillConcurrency(const Server& server, const Means& means, ServeAnswer& answer) {
  if (!server.memory || !server.memory->fits) return;
  const auto tokens = static_cast<double>(server.engine.policy.blocks * server.engine.policy.block) *
                      static_cast<double>(server.layout.decode > 0 ? server.layout.decode : server.layout.replicas);
  answer.max_concurrency = std::floor(tokens / (means.input + means.output));
  answer.max_concurrency_optimistic = std::floor(tokens / (means.input + means.output / 2));
}

void WarnOfQueue(const ServeOptions& options, const serve::Workload& workload, const serve::Run& run,
                 const ServeAnswer& answer, Diagnostics& diagnostics) {
  const bool at_once = options.load.rate && !std::isfinite(*options.load.rate);
  if (workload.clients || at_once || workload.requests.size() < 100) return;
  const double arriving = workload.requests.back().arrival;
  constexpr double kBacklog = 0.1;  // of the time in which requests arrived
  if (arriving <= 0 || run.wall - arriving <= kBacklog * arriving) return;
  const double longest = answer.figures.e2e.p50;  // of a run shorter than its requests nothing is known
  if (run.wall - arriving <= 2 * longest && answer.figures.queue.p90 < longest / 2) return;
  diagnostics.Warning(
      kAboveCapacity,
      fmt::format("{:.3g} requests/s arrive; the server answers {:.3g}",
                  static_cast<double>(workload.requests.size()) / arriving, answer.figures.requests_per_s),
      {}, "lower --rate, or take more devices");
}

}  // namespace

std::optional<ServeAnswer> Serve(const ServeOptions& options, Diagnostics& diagnostics) {
  const auto server = MakeServer(options, diagnostics);
  const auto slo = ResolveSlo(options.slo, diagnostics);
  if (!server || !slo) return std::nullopt;
  auto workload = serve::MakeWorkload(options.load);
  if (!workload) return diagnostics.Report(workload.error()), std::nullopt;
  if (options.warm_up < 0 || options.warm_up >= static_cast<int64_t>(workload->requests.size())) {
    diagnostics.Error(kBadServe, "--warm-up leaves no request");
    return std::nullopt;
  }
  if (!RefuseLong(*server, *workload, diagnostics)) return std::nullopt;
  const serve::ServerOptions simulated{.policy = server->engine.policy,
                                       .steps = server->steps.get(),
                                       .replicas = server->layout.replicas,
                                       .disaggregation = {.prefill = server->layout.prefill,
                                                          .decode = server->layout.decode,
                                                          .transfer_s_per_token = server->transfer_s_per_token},
                                       .seed = options.load.seed};
  auto run = serve::Simulate(*workload, simulated);
  if (!run) return diagnostics.Report(run.error()), std::nullopt;
  ServeAnswer answer{.model = server->model ? server->model->name : "",
                     .device = server->device ? server->device->name : "",
                     .system = server->system ? server->system->name : "",
                     .devices = options.devices,
                     .parallelism = server->layout.parallelism,
                     .weights = std::string(serve::FactsOf(server->precision.weights).name),
                     .cache = server->precision.fp8_cache ? "fp8" : "bf16",
                     .activations = server->prices ? std::string(server->prices->activations()) : "",
                     .engine = server->engine.name,
                     .engine_version = server->engine.version};
  answer.figures = serve::FiguresOf(*run, *workload, options.warm_up, *slo, server->engines());
  answer.memory = server->memory;
  answer.goodput = !options.slo.empty();
  const Means means = MeansOf(*workload);
  FillSteps(*server, means, answer);
  FillConcurrency(*server, means, answer);
  if (options.price && answer.figures.tokens_per_s > 0) {
    constexpr double kMillion = 1e6;
    constexpr double kHour = 3600;
    answer.cost =
        *options.price * static_cast<double>(options.devices) * kMillion / (kHour * answer.figures.tokens_per_s);
  }
  WarnOfQueue(options, *workload, *run, answer, diagnostics);
  answer.run = *std::move(run);
  answer.command_line = options.command_line;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) answer.warnings.push_back(diagnostic);
  }
  return answer;
}

}  // namespace hespas::driver
