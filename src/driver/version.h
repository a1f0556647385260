#pragma once

namespace hespas::driver {

inline constexpr const char* kVersion = HESPAS_VERSION;

}  // namespace hespas::driver
