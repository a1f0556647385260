// Options of commands that simulate requests.
#pragma once

#include <cstdint>
#include <string>

#include "cli/command.h"

namespace hespas::cli {

// --requests, --warm-up and --seed; `otherwise`: what an absent count means.
template <class Count>
void AddRequestOptions(CLI::App& command, Count& requests, int64_t& warm_up, uint64_t& seed,
                       const std::string& otherwise = {}) {
  command.add_option("--requests", requests, "requests to simulate" + otherwise);
  command.add_option("--warm-up", warm_up, "requests at the start that the figures do not count");
  command.add_option("--seed", seed, "of the random arrivals and lengths");
}

}  // namespace hespas::cli
