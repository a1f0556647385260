#include "driver/stages/program/partition.h"

#include <fmt/format.h>

#include "driver/stages/program/export_tool.h"
#include "ir/facts/shardings.h"
#include "transform/unwrap_manual.h"

namespace hespas::driver {
namespace {

constexpr const char* kRemedy =
    "`hespas export` writes what each device runs; `hespas shard --mesh AXIS=SIZE,...` partitions and estimates";

}  // namespace

Result<ir::Module> Partitioned(ir::Module module, bool allowed, Diagnostics& diagnostics) {
  if (!ir::AwaitsPartitioner(module) || transform::UnwrapManual(module)) return module;
  if (!allowed) {
    return MakeError(kNotPartitioned, "the program's shardings have not been applied", {.file = module.path()},
                     kRemedy);
  }
  const int64_t devices = ir::DevicesOf(module);
  auto made = MadeByExportTool("partition_program.py", module, {std::to_string(devices)}, kNotPartitioned, kRemedy,
                               diagnostics);
  if (made) {
    diagnostics.Warning(kPartitionedHere,
                        fmt::format("the program is global: XLA's partitioner divided it among {} devices", devices),
                        {.file = module.path()});
  }
  return made;
}

}  // namespace hespas::driver
