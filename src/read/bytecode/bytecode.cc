#include "read/bytecode/bytecode.h"

namespace hespas::read {
namespace {
constexpr DiagnosticKind kNoBytecodeReader{"E0399", "MLIR bytecode cannot be read yet.", Outcome::kUnsupported};
}

Result<ir::Module> ReadBytecode(std::string path, std::string, Diagnostics& diagnostics) {
  const Error error = MakeError(kNoBytecodeReader, "MLIR bytecode cannot be read yet", {.file = path});
  diagnostics.Report(error);
  return error;
}

}  // namespace hespas::read
