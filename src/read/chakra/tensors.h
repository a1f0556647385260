// The tensors that the nodes of a Chakra trace read and write: attributes `inputs` and `outputs`, lists of texts in
// which names and sizes in bytes take turns (spec astra-sim section 10.4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace hespas::read::chakra {

inline constexpr DiagnosticKind kNoTensors{
    "E0623", "Tracking of local memory needs lists `inputs` and `outputs` of names and sizes on every node.",
    Outcome::kCannotRun};

struct Tensor {
  std::string name;
  uint64_t bytes = 0;
};

struct NodeTensors {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

// By node id. `bytes` is a file that ReadProgram has accepted.
Result<std::unordered_map<uint64_t, NodeTensors>> ReadTensors(std::string_view bytes, const std::string& file);

}  // namespace hespas::read::chakra
