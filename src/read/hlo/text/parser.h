// Parses HLO text into ModuleSyntax; reports every error it can and resumes at the next line.
#pragma once

#include "ir/module.h"
#include "read/hlo/text/syntax.h"

namespace hespas::read::hlo {

// Byte offset of `HloModule` at a line start, or npos.
size_t FindHeader(std::string_view text);

// Parses the source of `module` (only its text and its locations are used).
ModuleSyntax Parse(const ir::Module& module, ShapeTable& shapes, Diagnostics& diagnostics);

}  // namespace hespas::read::hlo
