// The blocks of a ragged dot's kernel, `ragged_dot_tiling = "512,1024,1024"` among the frontend's attributes, as
// MaxText and XLA write them. Such a dot is a kernel of its own, and the blocks are part of what it costs.
#pragma once

#include <string_view>

namespace hespas::ir {

inline constexpr std::string_view kFrontendAttributes = "mhlo.frontend_attributes";
inline constexpr std::string_view kRaggedDotTiling = "ragged_dot_tiling";

inline bool TellsBlocks(std::string_view text) { return text.find(kRaggedDotTiling) != std::string_view::npos; }

}  // namespace hespas::ir
