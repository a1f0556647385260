// Random network cases in the compact form of the recorded ones (case_file.h), reproducible from a seed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace hespas::network_test {

// All ranks run one program of collectives and compute nodes over all NPUs.
nlohmann::json SymmetricCase(uint64_t seed);

// The same with collectives of two ways to divide the NPUs into equal groups; not all of them are equal.
nlohmann::json GroupCase(uint64_t seed);

// Stages that run programs of their own, of several NPUs each, which send to the next stage; collectives within stages,
// across them and of all.
nlohmann::json PipelineCase(uint64_t seed);

}  // namespace hespas::network_test
