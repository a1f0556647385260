// The kernels of one step of a model on one device: what inference engines launch, fused as they fuse.
//
// - Norms of the width are fused with residual sums, gate and up projections with each other, rotary embeddings with
//   the write of keys and values; attention keeps scores on the chip. Matmuls share rows of prompts and decodes.
// - A layer's kernels depend on rows alone; attention on contexts; the head on rows whose token is sampled.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "serve/model/model.h"
#include "serve/model/precision.h"
#include "serve/step.h"

namespace hespas::serve {

enum class KernelKind : uint8_t {
  kMatmul,
  kTraffic,
  kExpertRows,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute
};

// How tokens reach the experts of a layer.
struct Routing {
  double tokens = 0;  // of all ranks
  double chosen = 1;  // experts of a token
  double experts = 1;
  double ranks = 1;     // that split them
  double exponent = 0;  // of the power law of their loads

  bool operator==(const Routing&) const = default;
};

struct StepKernel {
  std::string_view name;
  KernelKind kind = KernelKind::kTraffic;
  double count = 1;                // in a step
  double b = 1;                    // matmuls of one kernel
  std::optional<Routing> routing;  // of experts', whose b and m are means of all ranks
  double m = 0, n = 0, k = 0;      // of experts' rows: their number, and their elements outside and inside
  bool quantised = false;          // weights in the model's format, else 16 bit
  double bytes = 0;                // of traffic and collectives
  int64_t ranks = 1;               // of collectives
};

// One attention kernel; all counts are of one device.
struct AttentionCall {
  bool decode = true;
  double count = 1;  // in a step
  double requests = 0;
  double rows = 0;     // tokens
  double context = 0;  // tokens in the cache, all requests together
  double pairs = 0;    // of a row and a token that it attends to
  double before = 0;   // tokens up to a row's own, in the mean, whether it attends to them or not
  double window = 0;   // tokens that a row attends to at most; 0: all
  double heads = 0;
  double kv_heads = 0;
  double head_size = 0;
  double value_size = 0;
  double cache_bytes = 2;  // of an element
  double cache_width = 0;  // elements read for a token of the context
  bool ungrouped = false;  // each query head reads them for itself
  bool rotates = false;    // queries and keys, and writes the cache
  bool f8 = false;         // type of its two matmuls
};

// Of a step: decodes and prompts, of layers with a window and of others. Without memory of its own: searches price
// millions.
class AttentionCalls {
 public:
  void push_back(const AttentionCall& call) { calls_[size_++] = call; }
  const AttentionCall* begin() const { return calls_.data(); }
  const AttentionCall* end() const { return begin() + size_; }
  size_t size() const { return size_; }
  const AttentionCall& front() const { return calls_.front(); }
  const AttentionCall& operator[](size_t i) const { return calls_[i]; }

 private:
  std::array<AttentionCall, 4> calls_;
  size_t size_ = 0;
};

// A kernel of a step by what it reads and makes.
struct StepOp {
  std::string_view name;
  std::vector<size_t> reads;  // numbers of earlier ones
  double bytes = 0;           // of what it makes
  bool over_first = false;    // in the buffer of the first that it reads
};

class StepKernels {
 public:
  StepKernels(const Model& model, const Parallelism& parallelism, const Precision& precision)
      : model_(model), parallelism_(parallelism), precision_(precision) {}

  // All layers, attention apart, for a step of so many rows.
  std::vector<StepKernel> Layers(double rows) const;
  // The head for so many rows, and their sampling.
  std::vector<StepKernel> Head(double rows) const;
  AttentionCalls Attention(const StepShape& step) const;
  // Data-parallel ranks of experts in lock step, each with its part of the rows.
  double RanksApart() const;
  int64_t ranks() const { return parallelism_.tensor * parallelism_.pipeline * parallelism_.data; }

  // Bytes of one device.
  double WeightBytes() const;
  double CacheBytesPerToken() const;  // of a request; its share of one device
  // The table of sines and cosines for all positions, of so many bytes an element.
  double RotationBytes(double element) const;
  // A step of so many rows, of all ranks, whose last tokens are sampled for some: one layer of each kind, and the head.
  std::vector<StepOp> StepProgram(double rows, double sampled_rows) const;

 private:
  class Program;

  void Matmul(std::vector<StepKernel>& out, std::string_view name, double count, double m, double n, double k) const;
  void AttentionMatmuls(std::vector<StepKernel>& out, double rows) const;
  void Mlp(std::vector<StepKernel>& out, double count, double rows, double width) const;
  void ExchangeTokens(std::vector<StepKernel>& out, double rows) const;
  void ExpertKernels(std::vector<StepKernel>& out, double rows) const;
  bool PromptsIn8Bits() const;
  double KvHeadsOfRank() const;
  double LocalRows(double rows) const;  // of attention, where data parallel

  const Model model_;
  const Parallelism parallelism_;
  const Precision precision_;
};

}  // namespace hespas::serve
