// What tells one version of a tool, and one machine, from another: for the keys of measurements.
#pragma once

#include <string>

namespace hespas::estimate {

// Size and beginning of a file (an ELF file's build id stands there).
std::string FileIdentity(const std::string& path);

// Model and number of this machine's processors.
std::string HostProcessor();

}  // namespace hespas::estimate
