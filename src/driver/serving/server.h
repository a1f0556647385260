// One server of `hespas serve`: what stays the same for all loads.
#pragma once

#include <memory>
#include <optional>

#include "driver/serving/kernel_prices.h"
#include "driver/serving/resolve.h"
#include "driver/serving/serve.h"
#include "serve/step.h"

namespace hespas::driver {

// Prices refer to device and system, so a server stays where it was made.
struct Server {
  std::optional<serve::Model> model;
  std::optional<hardware::Device> device;
  std::optional<hardware::System> system;
  Layout layout;
  serve::Precision precision;
  serve::EngineProfile engine;
  std::optional<ServeMemory> memory;
  std::unique_ptr<KernelPrices> prices;
  std::shared_ptr<serve::StepModel> steps;  // of another server, if it differs in engines only
  double transfer_s_per_token = 0;
  int64_t engines() const { return layout.prefill > 0 ? layout.prefill + layout.decode : layout.replicas; }
};

// nullptr where the options are bad; each defect is reported.
std::unique_ptr<Server> MakeServer(const ServeOptions& options, Diagnostics& diagnostics);

// A server under one load.
std::optional<ServeAnswer> ServeLoad(const Server& server, const ServeOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
