// Whether a value has a single reader.
#pragma once

#include <algorithm>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// `users` are those of `flow` (Dataflow::Users). An output is read by whoever called.
inline bool IsReadOnce(const Dataflow& flow, const UserTable& users, ValueId value) {
  return users[value.index()].size() == 1 &&
         std::find(flow.outputs.begin(), flow.outputs.end(), value) == flow.outputs.end();
}

}  // namespace hespas::optimise
