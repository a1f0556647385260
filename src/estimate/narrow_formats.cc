#include "estimate/narrow_formats.h"

namespace hespas::estimate {

std::optional<field::Format> NarrowFormatOn(const hardware::Device& device, std::string_view activations) {
  if (activations == "fp8" && device.Knows("f8E4M3FN")) return field::Format::kF8;
  // PTX ISA 8.8: `mma.block_scale` of 4 by 8 bits belongs to devices that know 4 bits.
  if (!device.Knows("f4E2M1FN")) return std::nullopt;
  if (activations == "mxfp8") return field::Format::kF8;
  if (activations == "nvfp4") return field::Format::kNvF4;
  return std::nullopt;
}

}  // namespace hespas::estimate
