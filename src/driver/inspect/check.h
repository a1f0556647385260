// Checks one file without running anything: a program, a device, a system (file or folder) or a prototype
// configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kUnknownSchema{
    "E0930", "No JSON Schema of that name ships. `hespas schema` without a name lists them.", Outcome::kUsage};

// The names and the text of the schemas in data/schemas.
Result<std::vector<std::string>> SchemaNames();
Result<std::string> SchemaText(const std::string& name);

// One line on what `path` holds ("device A100: 312 TFLOP/s ..."); nothing if it has errors, which are reported.
std::optional<std::string> CheckFile(const std::string& path, Diagnostics& diagnostics);

}  // namespace hespas::driver
