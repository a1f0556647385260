#include "ir/facts/recomputation.h"

#include <algorithm>
#include <unordered_set>

#include "ir/attributes/attribute.h"
#include "ir/facts/execution/trip_count.h"
#include "ir/facts/fusion.h"
#include "ir/facts/library_call.h"
#include "ir/facts/value_numbers.h"

namespace hespas::ir {
namespace {

constexpr size_t kMostVisits = 4'000'000;  // calls and loops within each other may multiply
constexpr int kDeepest = 64;               // calls, loops and fusions within each other
constexpr std::string_view kScope = "rematted_computation";

bool IsContraction(const Module& module, OpId op) {
  if (Traits(module.kind(op)).sort == OpSort::kContraction) return true;
  const auto call = LibraryCallOf(module, op);
  return call && (call->kind == LibraryKind::kGemm || call->kind == LibraryKind::kConvolution ||
                  call->kind == LibraryKind::kAttention);
}

// The framework's scopes of an op, in a location or HLO metadata; "" where it has none.
std::string_view ScopesOf(const Module& module, OpId op) {
  if (const std::string_view* metadata = module.attribute(op, "metadata")) {
    const size_t at = metadata->find("op_name=");
    return at == std::string_view::npos ? std::string_view()
                                        : metadata->substr(at, metadata->find("source_file=", at) - at);
  }
  const std::string_view* location = module.attribute(op, "loc");
  if (location == nullptr) return {};
  std::string_view text = Trim(*location);
  for (int depth = 0; depth < 8; ++depth) {
    if (text.starts_with("loc(#")) text = text.substr(4, text.find(')') - 4);
    if (!text.starts_with('#')) break;
    text = Trim(module.Alias(text));
  }
  return text;
}

bool IsFromJax(std::string_view scopes) {
  return scopes.find("jit(") != std::string_view::npos || scopes.find("pmap(") != std::string_view::npos;
}

bool IsCheckpointed(std::string_view scopes) {
  return scopes.find("checkpoint") != std::string_view::npos || scopes.find("remat") != std::string_view::npos;
}

// Where execution stands.
struct Scope {
  std::unordered_set<uint64_t>* merged = nullptr;  // strict numbers of the body at hand: CSE leaves one of each
  IterationIndices* indices = nullptr;
  double times = 1;
  bool from_jax = false;
  bool rematted = false;
  int depth = 0;
};

class Walk {
 public:
  Walk(const Module& module, bool optimised) : module_(module), optimised_(optimised), numbers_(module) {}

  std::optional<Recomputation> Run() {
    const BlockId body = module_.main().valid() ? module_.body(module_.main()) : BlockId();
    if (!body.valid()) return std::nullopt;
    for (const ValueId argument : module_.arguments(body)) {
      const uint64_t number = (uint64_t{argument.index()} + 1) * 0x9E3779B97F4A7C15ull;
      numbers_.Set(argument, {number, number});
    }
    std::unordered_set<uint64_t> merged;
    IterationIndices indices;
    RunBlock(body, {.merged = &merged, .indices = &indices});
    return failed_ ? std::nullopt : Judge();
  }

 private:
  struct Record {
    ExecutedOp executed;
    uint64_t number = 0;
    bool rematted = false;
    bool from_jax = false;
    bool checkpointed = false;
    OpId loop;
  };
  using Numbers = std::vector<ValueNumber>;

  // Numbers of what the block returns.
  Numbers RunBlock(BlockId block, const Scope& scope) {
    Numbers returned;
    if (!block.valid() || module_.block(block).next.valid() || scope.depth > kDeepest) {
      failed_ = failed_ || block.valid();
      return returned;
    }
    for (const OpId op : module_.block(block).ops) {
      if (failed_ || ++visits_ > kMostVisits) {
        failed_ = true;
        return returned;
      }
      if (IsTerminator(module_.kind(op))) {
        for (const ValueId operand : module_.operands(op)) returned.push_back(numbers_.of(operand));
      } else {
        RunOp(op, scope);
      }
    }
    return returned;
  }

  void RunOp(OpId op, const Scope& outer) {
    const OpKind kind = module_.kind(op);
    barriers_ = barriers_ || kind == OpKind::kOptimizationBarrier;
    if (kind == OpKind::kWhile) return RunLoop(op, Within(op, outer));
    if (Traits(kind).sort == OpSort::kControl) return RunBranches(op, Within(op, outer));
    if (const BlockId body = InlinedBody(op); body.valid()) return RunInline(op, body, Within(op, outer));
    Numbers bodies;
    for (RegionId region = module_.op(op).first_region; region.valid(); region = module_.region(region).next) {
      const Numbers body = RunApart(module_.region(region).first_block, Within(op, outer));
      bodies.insert(bodies.end(), body.begin(), body.end());
    }
    numbers_.Number(op, bodies, *outer.indices);
    if (module_.op(op).result_count > 0 && IsContraction(module_, op)) Note(op, outer);
  }

  Scope Within(OpId op, const Scope& outer) const {
    Scope scope = outer;
    ++scope.depth;
    const std::string_view scopes = ScopesOf(module_, op);
    scope.from_jax = scope.from_jax || IsFromJax(scopes);
    scope.rematted = scope.rematted || scopes.find(kScope) != std::string_view::npos;
    return scope;
  }

  // The body that stands where its op does: of calls and fusions.
  BlockId InlinedBody(OpId op) const {
    const OpKind kind = module_.kind(op);
    if (kind == OpKind::kFusion) return FusionBody(module_, op);
    if (Traits(kind).sort != OpSort::kCall) return BlockId();
    if (module_.op(op).first_region.valid()) return module_.body(op);
    const std::string_view* callee = module_.attribute(op, "callee");
    const OpId function = callee == nullptr ? OpId() : module_.FindSymbol(AsSymbol(*callee));
    return function.valid() ? module_.body(function) : BlockId();
  }

  void RunInline(OpId op, BlockId body, const Scope& scope) {
    const auto operands = module_.operands(op);
    const auto arguments = module_.arguments(body);
    const auto results = module_.results(op);
    for (size_t i = 0; i < std::min(operands.size(), arguments.size()); ++i) {
      numbers_.Set(arguments[i], numbers_.of(operands[i]));
    }
    const Numbers returned = RunBlock(body, scope);
    if (returned.size() < results.size()) {
      failed_ = true;
      return;
    }
    for (size_t i = 0; i < results.size(); ++i) numbers_.Set(results[i], returned[i]);
  }

  // A body whose arguments nothing outside of it sees: of reductions, sorts, scatters.
  Numbers RunApart(BlockId block, const Scope& scope) {
    if (!block.valid()) return {};
    const auto arguments = module_.arguments(block);
    for (size_t i = 0; i < arguments.size(); ++i) numbers_.Set(arguments[i], {i + 1, i + 1});
    return RunBlock(block, scope);
  }

  void RunLoop(OpId loop, Scope scope) {
    const BlockId body = module_.body(loop, 1);
    const auto operands = module_.operands(loop);
    const auto results = module_.results(loop);
    if (!body.valid() || module_.arguments(body).size() != operands.size() || results.size() != operands.size()) {
      failed_ = true;
      return;
    }
    scope.times *= static_cast<double>(TripCount(module_, loop).value_or(1));
    const size_t before = records_.size();
    Numbers carried;
    Numbers initial;
    for (size_t i = 0; i < operands.size(); ++i) {
      initial.push_back(numbers_.of(operands[i]));
      carried.push_back(numbers_.Carried(loop, i, initial[i]));
    }
    Numbers taken = carried;
    Numbers returned = RunBody(body, taken, scope);
    if (failed_ || returned.size() != taken.size()) {
      failed_ = true;
      return;
    }
    // What the body hands on unchanged is what it was before the loop.
    for (size_t i = 0; i < taken.size(); ++i) {
      if (returned[i].through == carried[i].through) taken[i] = initial[i];
    }
    records_.resize(before);
    returned = RunBody(body, taken, scope);
    if (failed_) return;
    for (size_t i = before; i < records_.size(); ++i) {
      if (!records_[i].loop.valid()) records_[i].loop = loop;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const bool unchanged = returned[i].through == taken[i].through;
      numbers_.Set(results[i], unchanged ? initial[i] : numbers_.LeftBy(loop, i, carried[i], returned[i]));
    }
  }

  Numbers RunBody(BlockId body, const Numbers& taken, Scope scope) {
    std::unordered_set<uint64_t> merged;
    IterationIndices indices;
    scope.merged = &merged;
    scope.indices = &indices;
    for (size_t i = 0; i < taken.size(); ++i) numbers_.Set(module_.arguments(body)[i], taken[i]);
    return RunBlock(body, scope);
  }

  void RunBranches(OpId op, const Scope& scope) {
    std::vector<Record> outer = std::move(records_);
    std::vector<Record> most;
    Numbers bodies;
    const auto work = [](const std::vector<Record>& records) {
      double times = 0;
      for (const Record& record : records) times += record.executed.times;
      return times;
    };
    for (RegionId region = module_.op(op).first_region; region.valid(); region = module_.region(region).next) {
      records_.clear();
      const BlockId body = module_.region(region).first_block;
      const Numbers returned = body.valid() ? RunBody(body, {}, scope) : Numbers();
      bodies.insert(bodies.end(), returned.begin(), returned.end());
      if (work(records_) > work(most)) most = records_;
    }
    records_ = std::move(outer);
    records_.insert(records_.end(), most.begin(), most.end());
    numbers_.Number(op, bodies, *scope.indices);
  }

  void Note(OpId op, const Scope& outer) {
    const ValueNumber number = numbers_.of(module_.result(op));
    if (!optimised_ && !outer.merged->insert(number.strict).second) return;
    const Scope scope = Within(op, outer);
    const std::string_view scopes = ScopesOf(module_, op);
    records_.push_back({.executed = {op, scope.times},
                        .number = number.through,
                        .rematted = scope.rematted,
                        .from_jax = scope.from_jax,
                        .checkpointed = IsCheckpointed(scopes)});
  }

  std::optional<Recomputation> Judge() const {
    Recomputation out;
    std::unordered_set<uint64_t> computed;
    for (const Record& record : records_) {
      out.all.push_back(record.executed);
      if (record.rematted || !computed.insert(record.number).second) out.again.push_back(record.executed);
    }
    const bool told = NamesTell() || (!optimised_ && (!out.again.empty() || ShapeTells()));
    return told ? std::optional(std::move(out)) : std::nullopt;
  }

  // All of them have names, of a JAX that would mark recomputation.
  bool NamesTell() const {
    const bool named = std::all_of(records_.begin(), records_.end(), [](const Record& r) { return r.from_jax; });
    const bool checkpointed =
        std::any_of(records_.begin(), records_.end(), [](const Record& r) { return r.checkpointed; });
    return named && (!checkpointed || module_.source().find(kScope) != std::string_view::npos);
  }

  // Without barriers and with one loop at most, CSE would have merged what is computed twice.
  bool ShapeTells() const {
    OpId loop;
    for (const Record& record : records_) {
      if (!record.loop.valid() || record.loop == loop) continue;
      if (loop.valid()) return false;
      loop = record.loop;
    }
    return !barriers_;
  }

  const Module& module_;
  const bool optimised_;
  ValueNumbers numbers_;
  std::vector<Record> records_;
  size_t visits_ = 0;
  bool barriers_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<Recomputation> RecomputationOf(const Module& module, bool optimised) {
  return Walk(module, optimised).Run();
}

}  // namespace hespas::ir
