#include "estimate/estimate_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/interrupt.h"
#include "estimate/fusion_cost.h"
#include "ir/attributes/attribute.h"

namespace hespas::estimate {
namespace {

struct NoteText {
  NoteKind kind;
  const DiagnosticKind* diagnostic;
  std::string_view text;
  std::string_view help = {};
};

constexpr NoteText kTexts[] = {
    {NoteKind::kNoRule, &kNoCostRule, "no cost rule for `{}`; estimated by the bytes moved"},
    {NoteKind::kDynamicShape, &kDynamicShape, "dynamic dimensions of `{}` count as 1", "--bind b=8 gives them sizes"},
    {NoteKind::kUnknownDatatype, &kUnknownDatatype, "the device has no peak rate for `{}`; its fallback rate is used"},
    {NoteKind::kUnknownTripCount, &kUnknownTripCount, "unknown number of iterations of `{}`; its body counts once",
     "--trip-count N says how often such loops run"},
    {NoteKind::kUnknownCustomCall, &kNoCostRule, "unknown custom call `{}`; estimated by the bytes moved",
     "--cost {}=flops:...,bytes:... tells what it costs"},
    {NoteKind::kToolFailed, &kToolFailed, "{}; left to the fallback"},
    {NoteKind::kScaled, &kScaledBlocks, "{}"},
};

// Ops with calls and fusions replaced by what they hold; each function is counted once.
class OpCounter {
 public:
  explicit OpCounter(const ir::Module& module) : module_(module) {}

  size_t Count(ir::OpId op) {
    if (module_.kind(op) == ir::OpKind::kFusion) return FusedOps(module_, op).size();
    const ir::OpId function = Callee(op);
    return function.valid() ? Function(function) : 1;
  }

 private:
  struct Entry {
    size_t count = 1;  // until it is known: a function that calls itself counts as one op there
    bool done = false;
    bool open = false;
  };

  ir::OpId Callee(ir::OpId op) const {
    if (module_.kind(op) != ir::OpKind::kFuncCall) return ir::OpId();
    const std::string_view* callee = module_.attribute(op, "callee");
    return callee == nullptr ? ir::OpId() : module_.FindSymbol(ir::AsSymbol(*callee));
  }

  size_t Function(ir::OpId root) {
    std::vector<ir::OpId> stack = {root};
    while (!stack.empty()) {
      const ir::OpId function = stack.back();
      Entry& entry = functions_[function.value];
      if (!entry.done && !entry.open) {
        entry.open = true;
        if (PushUnknownCallees(function, stack)) continue;
      }
      if (!entry.done) functions_[function.value] = {.count = BodyCount(function), .done = true};
      stack.pop_back();
    }
    return functions_[root.value].count;
  }

  bool PushUnknownCallees(ir::OpId function, std::vector<ir::OpId>& stack) {
    const size_t before = stack.size();
    const ir::BlockId body = module_.body(function);
    if (!body.valid()) return false;
    for (const ir::OpId op : module_.block(body).ops) {
      const ir::OpId callee = Callee(op);
      if (callee.valid() && !functions_[callee.value].done && !functions_[callee.value].open) stack.push_back(callee);
    }
    return stack.size() > before;
  }

  size_t BodyCount(ir::OpId function) {
    size_t count = 0;
    const ir::BlockId body = module_.body(function);
    if (!body.valid()) return 1;
    for (const ir::OpId op : module_.block(body).ops) {
      if (ir::IsTerminator(module_.kind(op))) continue;
      const ir::OpId callee = Callee(op);
      count += callee.valid() ? functions_[callee.value].count : Count(op);
    }
    return count;
  }

  const ir::Module& module_;
  std::unordered_map<uint32_t, Entry> functions_;
};

}  // namespace

size_t ExpandedOpCount(const ir::Module& module, const graph::Block& block) {
  OpCounter counter(module);
  size_t count = 0;
  for (const ir::OpId op : block.ops) count += counter.Count(op);
  return count;
}

void ReportNotes(const ir::Module& module, const Notes& notes, bool strict, Diagnostics& diagnostics) {
  struct Group {
    size_t count = 0;
    ir::OpId first;
  };
  std::map<std::pair<NoteKind, std::string>, Group> groups;
  for (const Note& note : notes) {
    Group& group = groups[{note.kind, note.subject}];
    if (group.count++ == 0 || note.op < group.first) group.first = note.op;
  }
  for (const auto& [key, group] : groups) {
    const NoteText& row = kTexts[static_cast<size_t>(key.first)];
    const bool no_rule = row.diagnostic == &kNoCostRule;
    const DiagnosticKind& kind = no_rule && strict ? kNoCostRuleStrict : *row.diagnostic;
    const std::string text = fmt::format(fmt::runtime(row.text), key.second);
    const std::string times = group.count == 1 ? std::string() : fmt::format(" ({} times)", group.count);
    diagnostics.Report(
        {&kind, text + times, module.location(group.first), fmt::format(fmt::runtime(row.help), key.second)});
  }
}

Status Estimator::EstimateBlocks(const ir::Module& module, const BlockBatch& batch, Notes& notes) const {
  if (batch.progress != nullptr) batch.progress->Begin("estimate", batch.requests.size());
  for (size_t i = 0; i < batch.requests.size(); ++i) {
    if (batch.progress != nullptr) batch.progress->Done(i);
    if (batch.requests[i].known) continue;
    if (Interrupted()) return InterruptedError();
    const size_t noted = notes.size();
    graph::Estimate estimate = EstimateBlock(module, *batch.requests[i].block, notes);
    batch.deliver(i, std::move(estimate), notes.size() == noted);
  }
  return {};
}

Result<graph::EstimateTable> EstimateAll(const graph::BlockGraph& graph, const Estimator& estimator,
                                         EstimateCache* cache, const EstimateOptions& options,
                                         Diagnostics& diagnostics) {
  const ir::Module& module = *graph.module;
  graph::EstimateTable table;
  table.of_block.assign(graph.blocks.size(), graph::EstimateTable::kNone);
  std::unordered_map<Hash128, uint32_t> known;
  std::vector<size_t> op_counts;
  OpCounter counter(module);
  const Hash128 model = estimator.key();
  BlockBatch batch{.requests = {}, .deliver = {}, .progress = options.progress};
  for (size_t i = 0; i < graph.blocks.size(); ++i) {
    const graph::Block& block = graph.blocks[i];
    if (block.kind == graph::BlockKind::kCommunication) continue;
    ++table.reuse.blocks;
    if (options.reuse) {
      const auto [found, is_new] = known.try_emplace(block.hash, static_cast<uint32_t>(batch.requests.size()));
      if (!is_new) {
        table.of_block[i] = found->second;
        table.reuse.ops += op_counts[found->second];
        table.reuse.reused_ops += op_counts[found->second];
        ++batch.requests[found->second].uses;
        continue;
      }
    }
    table.of_block[i] = static_cast<uint32_t>(batch.requests.size());
    size_t ops = 0;
    for (const ir::OpId op : block.ops) ops += counter.Count(op);
    op_counts.push_back(ops);
    table.reuse.ops += ops;
    table.first.push_back(graph::BlockId(i));
    BlockRequest request{.block = &block};
    if (cache != nullptr) request.known = cache->Find(Combine(block.hash, model));
    if (!request.known) ++table.reuse.computed;
    batch.requests.push_back(std::move(request));
  }
  table.reuse.unique = batch.requests.size();
  table.unique.resize(batch.requests.size());
  for (size_t i = 0; i < batch.requests.size(); ++i) {
    if (batch.requests[i].known) table.unique[i] = *batch.requests[i].known;
  }
  batch.deliver = [&](size_t i, graph::Estimate estimate, bool clean) {
    // What was guessed is told again in every run: only clean estimates are kept.
    if (cache != nullptr && clean) cache->Store(Combine(batch.requests[i].block->hash, model), estimate);
    table.unique[i] = std::move(estimate);
  };
  Notes notes;
  if (const Status done = estimator.EstimateBlocks(module, batch, notes); !done) return done.error();
  ReportNotes(module, notes, options.strict, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.kind == &kNoCostRuleStrict) return diagnostic;
  }
  return table;
}

}  // namespace hespas::estimate
