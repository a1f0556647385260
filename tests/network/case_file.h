// One recorded or generated case of network simulation: compact JSON to trace, system and options.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulate/simulate.h"

namespace hespas::network_test {

struct Case {
  trace::TraceGraph trace;
  hardware::System system;
  simulate::SimulateOptions options;
};

// `input` is a case's "in". A system that the loader refuses is an error.
Result<Case> BuildCase(const nlohmann::json& input);

// A case of one collective over one dimension of 50 GB/s and 500 ns, endpoint delay 10 ns. `kind`: AR, AG, RS, A2A.
nlohmann::json OneCollective(const std::string& kind, uint64_t size, const std::string& algorithm,
                             const std::string& topology, int npus);

// A recorded run of ASTRA-sim (tests/data/network/README.md).
struct Golden {
  std::string id;
  std::string kind;
  nlohmann::json in;
  nlohmann::json out;
};

// None if the file cannot be read.
std::vector<Golden> ReadGoldens(const std::string& folder);

// The answer in the form of a case's "out": finish, exposed, wall, gpu, comm, overlap, order.
nlohmann::json Answer(const result::SimResult& result);

}  // namespace hespas::network_test
