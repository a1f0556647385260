// Without yaml-cpp systems come as JSON.
#include "base/left_out.h"
#include "hardware/system_reader.h"

namespace hespas::hardware {

void ReadNetworkYaml(const std::string&, const std::string& file, SystemReader& reader) {
  reader.diagnostics.Report(LeftOut("reader of YAML", {.file = file}, "describe the system in one JSON file"));
}

void ReadPerNodeYaml(const std::string&, const Location& from, SystemReader& reader) {
  reader.diagnostics.Report(LeftOut("reader of YAML", from));
}

}  // namespace hespas::hardware
