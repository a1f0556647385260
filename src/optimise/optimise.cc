#include "optimise/optimise.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"
#include "base/line_index.h"
#include "base/text/suggest.h"
#include "ir/facts/execution/scheduled.h"
#include "optimise/cpu/cpu_policy.h"
#include "optimise/dataflow/import.h"
#include "optimise/dataflow/pass.h"
#include "optimise/gpu/gpu_policy.h"
#include "optimise/tpu/tpu_policy.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// In the order in which they run; "inline" stands first and runs while the program is taken over.
constexpr Pass kPasses[] = {
    {"inline", "expands calls in place", nullptr},
    {"simplify", "removes copies and identities, merges chains of reshapes and transposes", Simplify},
    {"algebra", "turns powers and divisions by numbers into multiplications", ReduceArithmetic, true, false},
    {"index-vectors", "adds numbers to indices before these are broadcast", MakeIndexVectors, true, false},
    {"sink-invariants", "creates constants inside the loops that use them", SinkInvariants},
    {"cse", "computes equal expressions once, except across optimization barriers", EliminateCommonSubexpressions},
    {"select-and-scatter", "expands the gradient of max-pooling into a search and a scatter", ExpandSelectAndScatter,
     true, false},
    {"reduce-scatter", "turns an all-reduce whose result is sliced by device into a reduce-scatter",
     FormReduceScatters},
    {"windowed-einsum", "scatters large results of dots part by part, beside partial dots", WindowEinsums, false},
    {"fold-all-reduces", "merges two all-reduces over different groups", FoldAllReduces},
    {"reassociate", "adds before an all-reduce or reduce-scatter rather than after it", ReassociateCollectives},
    {"narrow-all-reduces", "sums in the narrower type that the result is converted to", NarrowAllReduces, false},
    {"collective-dimension", "moves the gathered or scattered dimension outermost", MoveCollectiveDimension, true,
     false},
    {"simplify-moved", "merges the transposes that moving dimensions left", Simplify, true, false},
    {"convolution-calls", "turns convolutions into cuDNN calls", CallConvolutions, true, false},
    {"pad-convolutions", "pads features for cuDNN", PadConvolutions, true, false},
    {"convolution-bias", "fuses the sum after a convolution into the cuDNN call", FuseConvolutionBias, true, false},
    {"convolution-layouts", "gives operands and results of convolutions cuDNN's layouts", AssignConvolutionLayouts,
     true, false},
    {"vector-dots", "turns dots with vectors into multiplications and sums", ReduceVectorDots, true, false},
    {"hoist-invariants", "moves loop-invariant work before the loop", HoistInvariants},
    {"decompose-dots", "gives dots one dimension of rows, columns and sums each", DecomposeDots, true, false},
    {"simplify-dots", "merges the transposes before dots with others", Simplify, true, false},
    {"cse-decomposed", "computes equal decomposed dots once", EliminateCommonSubexpressions, true, false},
    {"merge-dots", "merges small dots that share an operand", MergeDots, true, false},
    {"assign-layouts", "puts values into the order of dimensions in memory that ops ask for", AssignLayouts, true,
     false},
    {"simplify-layouts", "merges neighbouring transposes", Simplify, true, false},
    // XLA gives what a loop carries the layout that its body asks for, so that what stays the same is transposed once.
    {"hoist-layouts", "moves transposes of loop-invariant values before the loop", HoistInvariants, true, false},
    {"canonical-dots", "turns dots into matmuls, absorbing transposes and reshapes", CanonicaliseDots},
    {"cse-dots", "computes equal dots and bitcasts once", EliminateCommonSubexpressions},
    {"triton-matmuls", "fuses producers into Triton matmuls, if a flag says so", FormTritonMatmuls, true, false},
    {"cublas-calls", "turns dots and the sums after them into cuBLAS calls", FormCublasCalls, true, false},
    {"float-normalisation", "computes in f32 what the device lacks in bf16", NormaliseFloats, true, false},
    {"split-reductions", "splits large reductions into two stages", SplitReductions, true, false},
    {"simplify-again", "merges the bitcasts that rewrites left", Simplify},
    {"unit-dimensions", "squeezes unit dimensions of one-row matrices before broadcasts", SqueezeUnitDimensions, false},
    {"cse-again", "computes once the expressions that rewrites made equal", EliminateCommonSubexpressions},
    {"sorts", "sorts for top-k, and beside indices where a sort is stable", ExpandSorts, true, false},
    {"fusion", "fuses elementwise ops, reductions and their producers into kernels", Fuse},
    {"combine-collectives", "combines collectives of one kind up to a size", CombineCollectives},
    {"sparse-cores", "tells which sums SparseCores carry, if flags say so", AssignSparseCores, false},
    {"fusion-wrapper", "makes kernels of the ops that combining left", WrapKernels, true, false},
    {"dce", "removes dead code", EliminateDeadCode},
    {"copies", "copies what loops overwrite and what leaves the program twice", InsertCopies, true, false},
    {"async-collectives", "splits collectives into a start and a done", SplitCollectives, true, false},
    {"schedule", "orders ops for little memory and, on GPUs, for overlap with collectives", Schedule},
    {"scheduled-copies", "drops copies of donated parameters that the order makes superfluous", CopyScheduled, true,
     false},
    {"pipeline-collectives", "lets a loop's collectives run beside other iterations, if flags say so",
     PipelineCollectives, true, false},
    {"barriers", "removes optimization barriers", RemoveBarriers, false},
};

constexpr Pass kCpuPasses[] = {
    {"inline", "expands calls in place", nullptr},
    {"simplify", "removes copies and identities, merges chains of reshapes and transposes", Simplify},
    {"barriers", "removes optimization barriers", RemoveBarriers},
    {"cse", "computes equal expressions once", EliminateCommonSubexpressions},
    {"canonical-dots", "turns dots into matmuls, transposing operands where batches require it", CanonicaliseDots},
    {"select-and-scatter", "expands the gradient of max-pooling into a search and a scatter", ExpandSelectAndScatter},
    {"canonical-convolutions", "transposes operands and results of convolutions", CanonicaliseConvolutions},
    {"reduction-trees", "reduces windows of 32 first", FormReductionTrees},
    {"float-normalisation", "computes in f32 what the device lacks in bf16", NormaliseFloats},
    {"simplify-again", "merges the bitcasts that rewrites left", Simplify},
    {"cse-again", "computes once the expressions that rewrites made equal", EliminateCommonSubexpressions},
    {"fusion", "fuses elementwise ops and their producers into kernels", FuseOnCpu},
    {"dce", "removes dead code", EliminateDeadCode},
};

const CompilerPolicy& PolicyOf(Target target) {
  switch (target) {
    case Target::kTpu:
      return TpuPolicy();
    case Target::kCpu:
      return CpuPolicy();
    case Target::kGpu:
      break;
  }
  return GpuPolicy();
}

std::span<const Pass> PassesOf(Target target) {
  return target == Target::kCpu ? std::span<const Pass>(kCpuPasses) : kPasses;
}

bool RunsOn(const Pass& pass, Target target) { return target == Target::kTpu ? pass.tpu : pass.gpu; }

// Whether XLA's flags leave the pass out.
bool IsFlaggedOff(const Pass& pass, const Options& options) {
  if (pass.run == AssignSparseCores) {
    return !options.flags.sparse_core_all_reduce && !options.flags.sparse_core_reduce_scatter;
  }
  if (options.target != Target::kGpu) return false;
  if (pass.run == FormTritonMatmuls) return !options.flags.HasTritonMatmuls();
  return !options.flags.latency_hiding && (pass.run == SplitCollectives || pass.run == Schedule);
}

// Former names of passes, accepted for one more version.
struct FormerName {
  std::string_view former;
  std::string_view name;
};
constexpr FormerName kFormerNames[] = {
    {"convolution-sums", "convolution-bias"},
    {"triton-products", "triton-matmuls"},
    {"library-calls", "cublas-calls"},
    {"row-vectors", "unit-dimensions"},
};

bool Names(std::string_view given, std::string_view pass) {
  return given == pass || std::any_of(std::begin(kFormerNames), std::end(kFormerNames), [&](const FormerName& entry) {
           return entry.former == given && entry.name == pass;
         });
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses) names.emplace_back(pass.name);
  for (const Pass& pass : kCpuPasses) {
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.emplace_back(pass.name);
  }
  return names;
}

Status CheckNames(const Options& options) {
  const std::vector<std::string> names = PassNames();
  std::vector<std::string> given = options.disabled;
  if (!options.stop_after.empty()) given.push_back(options.stop_after);
  for (const std::string& name : given) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& pass) { return Names(name, pass); })) continue;
    return MakeError(kUnknownPass, fmt::format("there is no pass `{}`", name), {},
                     DidYouMean(name, names, fmt::format("passes: {}", fmt::join(names, ", "))));
  }
  return {};
}

// Nothing is known of a tensor without a rank: passes ask for dimensions.
bool HasUnranked(const ir::Module& module) {
  for (size_t i = 0; i < module.types().size(); ++i) {
    if (module.types()[ir::TypeId(i)].kind == ir::TypeKind::kUnrankedTensor) return true;
  }
  return false;
}

std::vector<Dataflow*> ExecutedRegions(Dataflow& flow) {
  std::vector<Dataflow*> all{&flow};
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->nests()) continue;
    for (const NodeId id : all[i]->order()) {
      const Node& node = all[i]->node(id);
      if (node.kind == OpKind::kFusion || node.kind == OpKind::kAsyncStart) continue;
      for (const auto& body : node.bodies) all.push_back(body.get());
    }
  }
  return all;
}

// Inner regions first, so that an outer pass sees them finished.
void RunOn(Dataflow& flow, const Pass& pass, PassContext& context) {
  const std::vector<Dataflow*> all = ExecutedRegions(flow);
  for (size_t i = all.size(); i-- > 0;) {
    context.is_main = i == 0;
    pass.run(*all[i], context);
    all[i]->Compact();
  }
}

// Which ops of the program a pass took out of it: fused with others, rewritten, or found superfluous.
class Departures {
 public:
  Departures(Dataflow& flow, std::vector<Explanation>* out) : flow_(flow), out_(out) {
    if (out_ != nullptr) present_ = Present();
  }

  void Note(const Pass& pass) {
    if (out_ == nullptr) return;
    std::vector<char> now = Present();
    const ir::Module& source = flow_.source();
    for (size_t i = 0; i < present_.size(); ++i) {
      if (!present_[i] || now[i]) continue;
      const ir::OpId op(i);
      out_->push_back({.op = std::string(source.name(op)),
                       .kernel = "none",
                       .reason = fmt::format("removed or rewritten by pass `{}`, which {}", pass.name, pass.note),
                       .origin = op});
    }
    present_ = std::move(now);
  }

 private:
  std::vector<char> Present() {
    std::vector<char> present(flow_.source().op_count(), 0);
    for (const Dataflow* region : ExecutedRegions(flow_)) Mark(*region, present);
    return present;
  }

  static void Mark(const Dataflow& region, std::vector<char>& present) {
    for (const NodeId id : region.order()) {
      const Node& node = region.node(id);
      if (node.origin.valid()) present[node.origin.index()] = 1;
      if (node.kind != OpKind::kFusion) continue;
      for (const auto& body : node.bodies) Mark(*body, present);
    }
  }

  Dataflow& flow_;
  std::vector<Explanation>* out_;
  std::vector<char> present_;  // by op of the source
};

// In the order of the program, each op with its line.
void SortAndNumber(const ir::Module& source, std::vector<Explanation>& explanations) {
  std::stable_sort(explanations.begin(), explanations.end(), [](const Explanation& a, const Explanation& b) {
    return a.origin.valid() && (!b.origin.valid() || a.origin.index() < b.origin.index());
  });
  const LineIndex lines(source.source());
  for (Explanation& entry : explanations) {
    if (entry.origin.valid()) entry.op += fmt::format(" (line {})", lines.Line(source.op(entry.origin).source));
  }
}

}  // namespace

std::vector<PassInfo> Passes(Target target) {
  std::vector<PassInfo> out;
  for (const Pass& pass : PassesOf(target)) {
    if (RunsOn(pass, target)) out.push_back({pass.name, pass.note});
  }
  return out;
}

bool IsOptimised(const ir::Module& module) {
  const ir::OpId main = module.main();
  const ir::BlockId body = main.valid() ? module.body(main) : ir::BlockId();
  if (!body.valid()) return false;
  if (ir::IsScheduled(module)) return true;
  const auto& ops = module.block(body).ops;
  return std::any_of(ops.begin(), ops.end(), [&](ir::OpId op) {
    if (module.kind(op) == OpKind::kFusion) return true;
    const auto* target = module.attribute(op, "call_target_name");
    // Attention by cuDNN is a call in the frontend's program already.
    return target != nullptr && target->find("__cu") != std::string_view::npos &&
           target->find("fmha") == std::string_view::npos;
  });
}

Result<ir::Module> Optimise(ir::Module module, const Options& options, Diagnostics&, Report* report) {
  return OptimiseAgain(module, options, report);
}

Result<ir::Module> OptimiseAgain(ir::Module& module, const Options& options, Report* report) {
  if (const Status names = CheckNames(options); !names) return names.error();
  const ir::OpId main = module.main();
  if (!main.valid() || !module.body(main).valid()) return MakeError(kNoMain, "the program has no function `main`");
  const auto disabled = [&](std::string_view name) {
    return std::any_of(options.disabled.begin(), options.disabled.end(),
                       [&](const std::string& given) { return Names(given, name); });
  };
  const CompilerPolicy& policy = PolicyOf(options.target);
  PassContext context{.policy = &policy,
                      .gpu = options.gpu,
                      .flags = options.flags,
                      .bf16_capability = options.bf16_capability,
                      .memory_limit = options.memory_limit,
                      .decisions = options.decisions};
  if (report != nullptr && report->explain) context.explanations = &report->explanations;
  auto flow = Import(module, main, {.inline_calls = !disabled("inline")});
  if (flow == nullptr) return MakeError(kBranches, "values cross blocks that branches connect");
  bool fused = false;
  bool scheduled = false;
  Departures departures(*flow, context.explanations);
  const auto passes = HasUnranked(module) ? std::span<const Pass>() : PassesOf(options.target);
  for (const Pass& pass : passes) {
    if (Interrupted()) return InterruptedError();
    if (RunsOn(pass, options.target) && !IsFlaggedOff(pass, options) && !disabled(pass.name)) {
      if (pass.run != nullptr) RunOn(*flow, pass, context);
      fused = fused || pass.run == Fuse || pass.run == FuseOnCpu;
      scheduled = scheduled || pass.run == Schedule;
      if (!fused) departures.Note(pass);
      if (report != nullptr) report->passes.emplace_back(pass.name);
    }
    if (Names(options.stop_after, pass.name)) break;
  }
  if (report != nullptr) report->short_of_memory = context.short_of_memory;
  if (context.explanations != nullptr) SortAndNumber(module, *context.explanations);
  if (options.expand_kernels) RunOn(*flow, {.run = ExpandKernels}, context);
  if (!IsOrdered(*flow))
    return MakeError(kLostOrder, "the optimised program has a cycle: please report this as a bug of Hespas");
  // The order on GPUs hides latency. XLA's peak memory there follows more closely from its orders of least memory.
  return Export(*flow, main, scheduled && policy.ExportsSchedule() && !options.expand_kernels);
}

}  // namespace hespas::optimise
