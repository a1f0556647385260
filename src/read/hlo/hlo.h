// Reads HLO text (`HloModule ...`, before or after optimisation, any back end) into the common IR.
//
// - ENTRY becomes func.func @main; tuples are flattened, so tuple, get-tuple-element and parameter leave no op.
// - Computations become regions of the op that names them; those of call and async-start become private functions.
// - The mapping of ops and attributes is written up in docs/reference/hlo-mapping.md.
// - All errors are in `diagnostics` (codes E02xx); the Result then holds the first one.
#pragma once

#include <string>
#include <string_view>

#include "base/content.h"
#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::read {

// Whether `text` holds `HloModule` at the start of a line (log lines may be before it).
bool LooksLikeHloText(std::string_view text);

Result<ir::Module> ReadHloText(std::string path, Content text, Diagnostics& diagnostics);

}  // namespace hespas::read
