#include "read/stablehlo/stablehlo.h"

#include "read/stablehlo/errors.h"

namespace hespas::read {

Result<ir::Module> ReadStableHlo(std::string path, std::string, Diagnostics& diagnostics) {
  const Error error = MakeError(kSyntax, "not yet", {.file = path});
  diagnostics.Report(error);
  return error;
}

}  // namespace hespas::read
