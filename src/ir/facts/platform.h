// For which platform a program was lowered or compiled, as far as its custom calls and layouts tell.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace hespas::ir {

enum class Platform : uint8_t { kCpu, kGpu, kCuda, kRocm, kTpu };  // kGpu: of either vendor

std::string_view NameOf(Platform platform);  // "CPU", "GPU", "CUDA", "ROCm", "TPU"

// Where a custom call of this target runs; nothing where the target says nothing about it.
std::optional<Platform> PlatformOfTarget(std::string_view target);

struct Lowered {
  Platform platform = Platform::kGpu;
  OpId op;               // that shows it; invalid where layouts do
  std::string evidence;  // "custom call `tpu_custom_call`", "tiled layouts, T(8,128)"
};

// The first evidence in the program; nothing where it would run on any platform.
std::optional<Lowered> LoweredFor(const Module& module);

}  // namespace hespas::ir
