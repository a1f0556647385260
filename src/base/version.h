#pragma once

namespace hespas {

inline constexpr const char* kVersion = HESPAS_VERSION;

}  // namespace hespas
