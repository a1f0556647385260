// Estimator: what a block or an op costs on one device. An extension point: one class per model, one row in registry.h.
//
// - Pure: equal blocks give equal estimates, whatever was estimated before, from any thread.
// - Never fails: an op without a rule gets a conservative estimate (the bytes it moves) and a note.
// - Collectives cost nothing here; the network simulation times them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "base/text/hash.h"
#include "graph/block_graph.h"
#include "graph/estimate.h"
#include "ir/module.h"

namespace hespas::estimate {

// Something about an op that the estimate had to guess.
enum class NoteKind : uint8_t {
  kNoRule,
  kDynamicShape,
  kUnknownDatatype,
  kUnknownTripCount,
  kUnknownCustomCall,
  kToolFailed,
  kScaled
};

struct Note {
  NoteKind kind;
  ir::OpId op;
  std::string subject;  // op name, datatype or custom-call target; notes of one kind and subject are reported together
};
using Notes = std::vector<Note>;

// Distinct blocks, all of one program.
struct BlockRequest {
  const graph::Block* block = nullptr;
  size_t uses = 1;                       // how often it occurs
  std::optional<graph::Estimate> known;  // from a cache: needs no new one
};

struct BlockBatch {
  std::vector<BlockRequest> requests;
  // Takes the estimate of a request without a known one, once each, in any order. Clean: nothing was guessed.
  std::function<void(size_t request, graph::Estimate estimate, bool clean)> deliver;
  Progress* progress = nullptr;
};

class Estimator {
 public:
  virtual ~Estimator() = default;

  virtual std::string_view name() const = 0;
  // One op with everything nested in it and called by it.
  virtual graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const = 0;
  virtual graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const = 0;
  // Blocks together: one after the other, unless the estimator knows better. Fails where the caller asked to stop.
  virtual Status EstimateBlocks(const ir::Module& module, const BlockBatch& batch, Notes& notes) const;
  // Of everything besides the block that the estimate depends on: model and its version, device, options.
  virtual Hash128 key() const = 0;
};

}  // namespace hespas::estimate
