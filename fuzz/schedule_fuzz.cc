// Links: read
// Schedules of collectives in XML (MSCCL-IR and TACOS): any text is read or refused.
#include <string_view>

#include "base/diagnostic.h"
#include "read/msccl/msccl.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schedule = hespas::read::msccl::ReadSchedule(text, "schedule.xml", hespas::Bytes(1 << 20));
  if (!schedule) hespas::Render(schedule.error());
  return 0;
}
