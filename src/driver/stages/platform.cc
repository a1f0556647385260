#include "driver/stages/platform.h"

#include "ir/facts/platform.h"

namespace hespas::driver {
namespace {

using ir::Platform;

// "cuda", as JAX spells what a device runs; empty where the device's file does not tell.
std::string_view WordOf(const hardware::Device& device) {
  if (device.family == "tpu" || device.family == "cpu") return device.family == "tpu" ? "tpu" : "cpu";
  if (device.family != "gpu") return {};
  return device.vendor == "NVIDIA" ? "cuda" : device.vendor == "AMD" ? "rocm" : "";
}

bool RunsOn(Platform platform, const hardware::Device& device) {
  switch (platform) {
    case Platform::kCpu:
      return device.family == "cpu";
    case Platform::kTpu:
      return device.family == "tpu";
    case Platform::kGpu:
      return device.family == "gpu";
    case Platform::kCuda:
      return device.family == "gpu" && device.vendor != "AMD";
    case Platform::kRocm:
      return device.family == "gpu" && device.vendor != "NVIDIA";
  }
  return true;
}

}  // namespace

void CheckPlatform(const ir::Module& module, const hardware::Device& device, Diagnostics& diagnostics) {
  const std::string_view word = WordOf(device);
  if (word.empty()) return;
  const auto lowered = ir::LoweredFor(module);
  if (!lowered || RunsOn(lowered->platform, device)) return;
  diagnostics.Warning(
      kOtherPlatform,
      fmt::format("the program was lowered for {} ({}), not for `{}`", ir::NameOf(lowered->platform), lowered->evidence,
                  device.name),
      lowered->op.valid() ? module.location(lowered->op) : Location{.file = module.path()},
      fmt::format("lower it for the device: jax.jit(f).trace(...).lower(lowering_platforms=(\"{}\",))", word));
}

}  // namespace hespas::driver
