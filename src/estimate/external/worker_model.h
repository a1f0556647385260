// Any program that speaks the JSON-lines protocol as a model of operations (`--estimator exec:PATH`,
// docs/estimators.md).
//
// - The worker is started once and asked one operation at a time; equal operations once. A worker that dies, hangs or
//   answers nonsense is restarted and asked once more; after three operations lost in a row it is left alone.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/system/process.h"
#include "estimate/external/op_model.h"
#include "hardware/device.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kBadWorker{"E0572",
                                           "An external estimator must greet with one line of JSON: {\"ready\": true, "
                                           "\"name\": ..., \"version\": ..., \"costs\": "
                                           "[operation names, or \"*\"]}. docs/estimators.md describes the protocol.",
                                           Outcome::kToolFailed};

struct WorkerCommand {
  std::vector<std::string> arguments;  // the program first
  Environment environment;
  std::chrono::milliseconds limit{60000};  // of one answer
};

Result<std::unique_ptr<OpModel>> StartWorkerModel(WorkerCommand command, const hardware::Device& device);

}  // namespace hespas::estimate
