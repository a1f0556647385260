#include "driver/stages/program/bind.h"

#include "driver/stages/program/export_tool.h"

namespace hespas::driver {

Result<ir::Module> Bound(ir::Module module, const std::vector<std::string>& sizes, Diagnostics& diagnostics) {
  if (sizes.empty()) return module;
  return MadeByExportTool("bind_dimensions.py", module, sizes, kCannotBind, "for example --bind b=8 --bind 0.1=128",
                          diagnostics);
}

}  // namespace hespas::driver
