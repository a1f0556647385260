#include "driver/serving/server.h"

#include <fmt/format.h>

#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"
#include "driver/serving/kernel_prices.h"
#include "driver/serving/priced_steps.h"
#include "driver/stages/run_options.h"
#include "hardware/presets.h"
#include "network/nccl_buffers.h"

namespace hespas::driver {
namespace {

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

// Device times: the engine's host stays.
bool UseTable(const ServeOptions& options, Server& server, Diagnostics& diagnostics) {
  if (!options.step_model.empty())
    return diagnostics.Error(kBadServe, "--step-model and --step-table, --prefill or --decode both give step times", {},
                             "leave the constants of --step-model or your own steps out"),
           false;
  if (options.step_table->prefill.empty()) {
    diagnostics.Error(serve::kBadStepTable, "the table of step times has no row of prompts", {},
                      "add rows of phase prefill; seconds 0 where prompts are computed elsewhere");
    return false;
  }
  server.steps = std::make_unique<serve::TableStepModel>(*options.step_table);
  return true;
}

bool UseKernels(Server& server, Diagnostics& diagnostics) {
  const auto& parameters = estimate::calibrated::DefaultParameters();
  const auto& links = network::DefaultNetworkConstants();
  const auto& field = estimate::field::DefaultConstants();
  if (!parameters || !links || !field) {
    diagnostics.Report(!parameters ? parameters.error() : !links ? links.error() : field.error());
    return false;
  }
  const serve::StepKernels kernels(*server.model, server.layout.parallelism, server.precision);
  server.prices = std::make_unique<KernelPrices>(*server.device, *parameters, *field, *links,
                                                 server.system ? &*server.system : nullptr,
                                                 serve::FactsOf(server.precision.weights));
  server.prices->TakeAllReduces(server.engine.all_reduces);
  server.steps = std::make_unique<PricedSteps>(kernels, *server.prices, server.engine.graphs,
                                               static_cast<double>(server.model->layers));
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

PeerMemory PeersOf(const Server& server, const network::NetworkConstants& links, const serve::StepKernels& kernels) {
  return {.caches = server.layout.data_within ? server.layout.parallelism.data : 1,
          .communicator = network::CommunicatorBytes(*server.device, links, kernels.ranks())};
}

// The fewest devices, more tensor ranks of the same layout, that hold weights, workspace and a block.
std::optional<int64_t> HoldingDevices(const Server& server, const network::NetworkConstants& links) {
  serve::Parallelism more = server.layout.parallelism;
  for (more.tensor = 1; more.tensor <= server.model->heads; ++more.tensor) {
    if (server.model->heads % more.tensor != 0) continue;
    const serve::StepKernels kernels(*server.model, more, server.precision);
    const PeerMemory peers = PeersOf(server, links, kernels);
    if (MemoryOf(*server.device, kernels, server.engine, peers).fits) return more.tensor * more.pipeline * peers.caches;
  }
  return std::nullopt;
}

// Fills memory and blocks; false where the model must fit and does not.
bool FitIntoMemory(const ServeOptions& options, Server& server, Diagnostics& diagnostics) {
  serve::Policy& policy = server.engine.policy;
  if (server.model && server.device) {
    const serve::StepKernels kernels(*server.model, server.layout.parallelism, server.precision);
    const auto& links = network::DefaultNetworkConstants();
    if (!links) return diagnostics.Report(links.error()), false;
    server.memory = MemoryOf(*server.device, kernels, server.engine, PeersOf(server, *links, kernels));
    policy.blocks = server.memory->blocks;
    const serve::Model& model = *server.model;
    if (server.engine.windows && model.window > 0)
      policy.window = {static_cast<double>(model.window_layers) / static_cast<double>(model.layers), model.window};
    if (!server.memory->fits) {
      const std::string message =
          fmt::format("{}: {:.1f} GB of weights and {:.1f} GB of workspace a device, of {:.1f} GB", server.model->name,
                      server.memory->weights / 1e9, server.memory->workspace / 1e9, server.memory->capacity / 1e9);
      const auto devices = HoldingDevices(server, *links);
      const std::string help = devices ? fmt::format("{} such devices hold it", *devices)
                                       : "take a device with more memory, or more stages by --pp";
      if (options.require_fit) return diagnostics.Error(kModelTooLarge, message, {}, help), false;
      diagnostics.Warning(kModelDoesNotFit, message, {}, help);
    }
  }
  if (options.cache_blocks) policy.blocks = *options.cache_blocks;
  return true;
}

}  // namespace

std::unique_ptr<Server> MakeServer(const ServeOptions& options, Diagnostics& diagnostics) {
  auto made = std::make_unique<Server>();
  Server& server = *made;
  const auto data = hardware::DataFolder();
  if (!data) return diagnostics.Report(data.error()), nullptr;
  if (!options.model.empty()) {
    server.model = serve::LoadModel(options.model, (*data / "serving" / "models.json").string(), diagnostics);
    if (!server.model) return nullptr;
  } else if (options.step_model.empty() && !options.step_table) {
    diagnostics.Error(kBadServe, "there is no model", {}, "name one: hespas serve llama3-8b --device H100_80GB ...");
    return nullptr;
  }
  if (options.device.name.empty() && options.step_model.empty() && !options.step_table) {
    diagnostics.Error(kBadServe, "there is no --device", {}, "`hespas devices` lists them");
    return nullptr;
  }
  const bool hardware = !options.device.name.empty();
  if (hardware && !LoadHardware(options, server, diagnostics)) return nullptr;
  const auto layout = ResolveLayout(options, server.model ? &*server.model : nullptr, diagnostics);
  if (!layout) return nullptr;
  server.layout = *layout;
  if (hardware && !LoadNetwork(options, server, diagnostics)) return nullptr;
  const auto engine = ResolveEngine(options, server.device ? ReportedCapacity(*server.device) : 0, diagnostics);
  if (!engine) return nullptr;
  server.engine = *engine;
  server.engine.policy.stages = layout->parallelism.pipeline;
  if (layout->data_within && engine->limits_of_rank) {
    server.engine.policy.max_tokens *= layout->parallelism.data;
    server.engine.policy.max_requests *= layout->parallelism.data;
  }
  // Each data-parallel rank has a scheduler of its own for its part of the requests (vLLM, DPEngineCoreProc;
  // TensorRT-LLM, an executor a rank; SGLang, data_parallel_controller.py).
  if (layout->data_within) server.engine.policy.overheads.request_s /= static_cast<double>(layout->parallelism.data);
  if (server.model) {
    const auto precision = ResolvePrecision(options, *server.model, server.engine, diagnostics);
    if (!precision) return nullptr;
    if (!HaveFormats(*server.model, *precision, server.device ? &*server.device : nullptr, diagnostics)) return nullptr;
    server.precision = *precision;
    // Only the field model's attention has the time of rotating and writing; elsewhere a kernel of its own stands for
    // it.
    if (server.device && !InField(*server.device)) server.precision.rotating_attention = false;
  }
  const bool constants = !options.step_model.empty();
  if (!(options.step_table ? UseTable(options, server, diagnostics)
        : constants        ? UseConstants(options, server, diagnostics)
                           : UseKernels(server, diagnostics)))
    return nullptr;
  if (!FitIntoMemory(options, server, diagnostics)) return nullptr;
  SetTransfer(options, server);
  return made;
}

}  // namespace hespas::driver
