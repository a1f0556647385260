// Fits the field model's shared constants to calls that were measured on several devices.
//
// - Least mean of |ln(predicted / measured)|, each call over its noise (noise.h): Laplace errors, as device fits have.
// - Up to 1,000 calls a device and family, drawn with a fixed seed, so that devices count by their noise alone.
// - Constants start as given, and stay there where the calls say nothing; deterministic.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "estimate/field/rows.h"

namespace hespas::estimate::field {

struct MeasuredCall {
  Call call;
  double us = 0;
};

struct DeviceCalls {
  hardware::Device device;
  std::vector<MeasuredCall> calls;
};

// In the order in which one needs another's constants.
inline constexpr std::string_view kFamilies[] = {
    "matmul", "fp8", "fp8_block", "nvfp4", "experts", "attention_context", "attention_generation"};

bool HasFamily(std::string_view family, std::span<const DeviceCalls> measured);

// `start` with the constants of `family` refitted; as it is where there are no calls of it.
Constants FitFamily(const Constants& start, std::string_view family, std::span<const DeviceCalls> measured);

// Its constants that FitFamily changes; the others say what measured calls hold, and how sure the model is.
std::vector<NamedConstant> FittedConstantsOf(Constants& constants, std::string_view family);

double UsOf(const Chip& chip, const Constants& constants, const Call& call);

}  // namespace hespas::estimate::field
