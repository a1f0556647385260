// The step that an engine profiles, as a program of tensors: the order of its kernels and what each reads and makes.
#include <algorithm>

#include "serve/model/kernels.h"

namespace hespas::serve {
namespace {

constexpr double kActivation = 2, kFloat = 4, kIndex = 4;  // bytes of an element

}  // namespace

class StepKernels::Program {
 public:
  Program(const StepKernels& step, double rows)
      : step_(step),
        model_(step.model_),
        all_rows_(rows),
        rows_(step.LocalRows(rows)),
        tensor_(static_cast<double>(step.parallelism_.tensor)),
        hidden_(kActivation * rows_ * static_cast<double>(step.model_.width)) {}

  std::vector<StepOp> Write(double sampled_rows) {
    const size_t residual = Make("embedding", {}, hidden_);
    size_t last = Make("norm", {residual}, hidden_);
    if (model_.expert_layers() < model_.layers) last = Layer(last, residual, false);
    if (model_.expert_layers() > 0) last = Layer(last, residual, true);
    if (sampled_rows > 0) Sample(last, step_.LocalRows(sampled_rows));
    return std::move(ops_);
  }

 private:
  size_t Make(std::string_view name, std::vector<size_t> reads, double bytes) {
    ops_.push_back({.name = name, .reads = std::move(reads), .bytes = bytes});
    return ops_.size() - 1;
  }

  // Over what it reads first, which has the same size.
  size_t MakeOver(std::string_view name, std::vector<size_t> reads) {
    const double bytes = ops_[reads.front()].bytes;
    const size_t op = Make(name, std::move(reads), bytes);
    ops_[op].over_first = true;
    return op;
  }

  // Frames of Python hold what they have named until they return, whose last kernel is `last`.
  void HoldUntil(size_t last, std::initializer_list<size_t> named) {
    if (step_.precision_.eager) ops_[last].reads.insert(ops_[last].reads.end(), named);
  }

  // From a layer's normed input to that of the next one; norms are in place, of it and of the residual stream.
  size_t Layer(size_t normed, size_t residual, bool experts) {
    const size_t attended = Attention(normed);
    const size_t input = model_.one_sum ? normed : MakeOver("norm", {attended, residual});
    const size_t out = experts ? Experts(input) : Mlp(input, static_cast<double>(model_.mlp_width));
    std::vector<size_t> sums = {out, residual};
    if (model_.one_sum) sums.push_back(attended);
    return MakeOver("norm", std::move(sums));
  }

  // As a matmul reads it, of so many elements a row.
  size_t Quantised(size_t from, double width, bool experts = false) {
    const WeightFormatFacts& facts = FactsOf(step_.precision_.weights);
    if (facts.activation_bytes >= kActivation || (facts.experts_only && !experts)) return from;
    return Make("quantise", {from}, facts.activation_bytes * rows_ * width);
  }

  size_t Summed(size_t part) { return tensor_ > 1 ? Make("all-reduce", {part}, hidden_) : part; }

  size_t Attention(size_t normed) {
    const double heads = static_cast<double>(model_.heads) / tensor_;
    const auto row = [&](double elements) { return kActivation * rows_ * elements; };
    const size_t read = Quantised(normed, static_cast<double>(model_.width));
    if (!model_.latent) {
      const auto d = static_cast<double>(model_.head_size);
      const size_t qkv = Make("qkv", {read}, row((heads + 2 * step_.KvHeadsOfRank()) * d));
      const size_t attended = Make("attention", {qkv}, row(heads * d));
      return Output(attended, heads * d, {normed, qkv});
    }
    const LatentAttention& latent = *model_.latent;
    const auto rope = static_cast<double>(latent.rope);
    const auto nope = static_cast<double>(latent.nope);
    const auto value = static_cast<double>(latent.value);
    const double vectors = static_cast<double>(latent.query_rank + latent.rank) + rope;
    const size_t compressed = Make("latent", {read}, row(vectors));
    const size_t queries = Make("queries", {compressed}, row(heads * (nope + rope)));
    // Prompts expand keys and values; keys are joined with their rotated part.
    const size_t expanded = Make("latent-heads", {compressed}, row(heads * (nope + value)));
    const size_t keys = Make("keys", {expanded, compressed}, row(heads * (nope + rope)));
    const size_t attended = Make("attention", {queries, keys, expanded}, row(heads * value));
    return Output(attended, heads * value, {normed, compressed, queries, expanded, keys});
  }

  size_t Output(size_t attended, double width, std::initializer_list<size_t> named) {
    const size_t out = Make("attention-output", {Quantised(attended, width)}, hidden_);
    HoldUntil(out, {attended});
    HoldUntil(out, named);
    return Summed(out);
  }

  size_t Mlp(size_t input, double whole_width) {
    const double width = whole_width / tensor_;
    const double parts = model_.gated ? 2 : 1;
    const size_t read = Quantised(input, static_cast<double>(model_.width));
    const size_t up = Make("gate-up", {read}, parts * kActivation * rows_ * width);
    const size_t active = Make("activation", {up}, kActivation * rows_ * width);
    const size_t out = Make("down", {Quantised(active, width)}, hidden_);
    HoldUntil(out, {input, up, active});
    return Summed(out);
  }

  // Rows of each chosen expert, as if all were this rank's, in two buffers: each matmul reads one and writes the other
  // (TensorRT-LLM, moe_kernels.cu, getWorkspaceDeviceBufferSizes: permuted rows, activated and unsummed ones share one,
  // both matmuls' results in 16 bits the other).
  size_t Experts(size_t input) {
    const serve::Experts& experts = model_.experts;
    const auto h = static_cast<double>(model_.width);
    const Parallelism& parallelism = step_.parallelism_;
    std::vector<size_t> summed;
    if (experts.shared_width > 0) summed.push_back(Mlp(input, static_cast<double>(experts.shared_width)));
    const double choices =
        kFloat * static_cast<double>(experts.count) + 2 * kIndex * static_cast<double>(experts.active);
    const size_t router = Make("router", {input}, rows_ * choices);
    const bool gathers = parallelism.data > 1 && step_.precision_.exchange != Exchange::kChosen;
    const double rows = gathers ? all_rows_ : rows_;
    size_t read = input;
    if (gathers) {
      const bool before = step_.precision_.exchange == Exchange::kGatherQuantised &&
                          step_.precision_.weights != WeightFormat::kFp8Block;
      const double element = before ? FactsOf(step_.precision_.weights).activation_bytes : kActivation;
      read = Make("dispatch", {before ? Quantised(input, h, true) : input}, element * rows * h);
    }
    const double devices = tensor_ * static_cast<double>(parallelism.data);
    const double split = std::max(1.0, devices / static_cast<double>(parallelism.expert));
    const double width = static_cast<double>(experts.width) / split;
    const double chosen = kActivation * rows * static_cast<double>(experts.active);
    const size_t permuted = Make("expert-rows", {read, router}, chosen * std::max(h, width));
    const size_t results = Make("expert-gate-up", {permuted}, chosen * std::max(2 * width, h));
    const size_t out = Make("expert-sum", {permuted, results}, kActivation * rows * h);
    HoldUntil(out, {input, read, router});
    summed.insert(summed.begin(), gathers ? Make("combine", {out}, hidden_) : out);
    if (summed.size() > 1) summed = {MakeOver("expert-and-shared", summed)};
    return gathers ? summed.front() : Summed(summed.front());
  }

  // Logits in 16 bits, and in 32 twice: probabilities and their order. All rows of the last layer are held beside them.
  void Sample(size_t normed, double sampled) {
    const double logits = sampled * static_cast<double>(model_.vocabulary);
    const size_t rows = Make("last-rows", {normed}, kActivation * sampled * static_cast<double>(model_.width));
    size_t whole = Make("head", {rows}, kActivation * logits / tensor_);
    if (tensor_ > 1) whole = Make("gather-logits", {whole}, kActivation * logits);
    const size_t floats = Make("to-32-bits", {whole}, kFloat * logits);
    const size_t ordered = Make("probabilities", {floats}, kFloat * logits);
    Make("sample", {ordered, floats, whole, normed}, kIndex * sampled);
  }

  const StepKernels& step_;
  const Model& model_;
  double all_rows_;
  double rows_;  // of this rank
  double tensor_;
  double hidden_;  // bytes of all rows
  std::vector<StepOp> ops_;
};

std::vector<StepOp> StepKernels::StepProgram(double rows, double sampled_rows) const {
  return Program(*this, rows).Write(sampled_rows);
}

}  // namespace hespas::serve
