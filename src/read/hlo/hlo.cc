#include "read/hlo/hlo.h"

namespace hespas::read {
namespace {
constexpr DiagnosticKind kNoHloReader{"E0299", "HLO text cannot be read yet.", Outcome::kUnsupported};
}

Result<ir::Module> ReadHloText(std::string path, std::string, Diagnostics& diagnostics) {
  const Error error = MakeError(kNoHloReader, "HLO text cannot be read yet", {.file = path, .line = 1, .column = 1});
  diagnostics.Report(error);
  return error;
}

}  // namespace hespas::read
