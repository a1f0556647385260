// Whether a program was lowered for the platform of the device.
#pragma once

#include "base/diagnostic.h"
#include "hardware/device.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kOtherPlatform{
    "W0932",
    "The program was lowered or compiled for another platform than the device: it calls kernels or has layouts that "
    "the "
    "device's compiler would not make. JAX lowers linear algebra, random numbers, callbacks and Pallas kernels in "
    "another way for each platform. Lower it for the device: "
    "`jax.jit(f).trace(...).lower(lowering_platforms=(\"cuda\",))`, "
    "`jax.export.export(jax.jit(f), platforms=(\"tpu\",))`, or `hespas export --target DEVICE`."};

// Warns where the program shows another platform than the device's; silent where either is unknown.
void CheckPlatform(const ir::Module& module, const hardware::Device& device, Diagnostics& diagnostics);

}  // namespace hespas::driver
