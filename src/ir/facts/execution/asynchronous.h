// Marks collectives that computation runs beside, where their kind is one that a TPU's program waits for.
#pragma once

#include <string_view>

namespace hespas::ir {

inline constexpr std::string_view kAsynchronous = "hespas.asynchronous";
// Marks collectives that the computation behind them waits for, on any device.
inline constexpr std::string_view kSynchronous = "hespas.synchronous";
// Whether a TPU's SparseCores carry the collective, so that computation runs beside it within a slice; without the mark
// as the device has it.
inline constexpr std::string_view kSparseCore = "hespas.sparse_core";

}  // namespace hespas::ir
