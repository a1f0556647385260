// From the words of `hespas serve` to a model, a layout, a policy and limits; every defect is reported.
#pragma once

#include <optional>

#include "driver/serving/serve.h"

namespace hespas::driver {

struct Layout {
  serve::Parallelism parallelism;
  int64_t replicas = 1;  // of a model
  int64_t prefill = 0;   // of them engines for prompts; 0: aggregated
  int64_t decode = 0;
  int64_t replica_devices() const;  // that hold one replica
  bool data_within = false;         // data-parallel ranks of one replica, in lock step
};

std::optional<Layout> ResolveLayout(const ServeOptions& options, const serve::Model* model, Diagnostics& diagnostics);

// Whether model and device have the formats.
bool HaveFormats(const serve::Model& model, const serve::Precision& precision, const hardware::Device* device,
                 Diagnostics& diagnostics);

std::optional<serve::Precision> ResolvePrecision(const ServeOptions& options, const serve::Model& model,
                                                 const serve::EngineProfile& engine, Diagnostics& diagnostics);

// The engine's profile with what options replace; `large` devices have the larger limits.
std::optional<serve::EngineProfile> ResolveEngine(const ServeOptions& options, double memory_bytes,
                                                  Diagnostics& diagnostics);

std::optional<serve::Slo> ResolveSlo(const std::string& text, Diagnostics& diagnostics);

}  // namespace hespas::driver
