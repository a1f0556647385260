#include "driver/inspect/kernels/kernel_summary.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/text/json.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/convolution_work.h"
#include "ir/facts/library_call.h"
#include "optimise/dataflow/build.h"

namespace hespas::driver {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr size_t kOpLimit = 50'000'000;  // visits, should calls multiply

bool IsLibraryCall(const ir::Module& module, ir::OpId op) {
  const auto* target = module.attribute(op, "call_target_name");
  if (target == nullptr) return false;
  return target->find("__cu") != std::string_view::npos || target->find("triton") != std::string_view::npos;
}

class Summariser {
 public:
  explicit Summariser(const ir::Module& module) : module_(module), last_use_(module.value_count(), 0) {}

  Summary Run() {
    const ir::OpId main = module_.main();
    if (main.valid()) work_.push_back(main);
    while (!work_.empty() && visits_ < kOpLimit) {
      const ir::OpId owner = work_.back();
      work_.pop_back();
      for (const ir::RegionId region : module_.regions(owner)) {
        for (const ir::BlockId block : module_.region_blocks(region)) {
          for (const ir::OpId op : module_.block(block).ops) Visit(op);
        }
      }
    }
    for (const auto& [op, entry] : collectives_) summary_.collectives.push_back(entry);
    return std::move(summary_);
  }

 private:
  void Visit(ir::OpId op) {
    ++visits_;
    const OpKind kind = module_.kind(op);
    switch (ir::Traits(kind).sort) {
      case OpSort::kControl:
        work_.push_back(op);
        return;
      case OpSort::kCall:
        return VisitCall(op);
      case OpSort::kCollective:
        return VisitCollective(op, op);
      case OpSort::kAsync:
        return VisitAsync(op);
      case OpSort::kFusion:
        return AddKernel(op, KernelSort::kFusion);
      case OpSort::kCustomCall:
        return AddKernel(op, IsLibraryCall(module_, op) ? KernelSort::kLibraryCall : KernelSort::kOther);
      case OpSort::kConstant:
        return kind == OpKind::kConstant ? void() : AddKernel(op, KernelSort::kOther);
      case OpSort::kFree:
      case OpSort::kTerminator:
      case OpSort::kStructure:
      case OpSort::kTransfer:
        return;
      default:
        if (kind != OpKind::kBitcast && kind != OpKind::kReshape) AddKernel(op, KernelSort::kOther);
    }
  }

  void VisitCall(ir::OpId op) {
    if (module_.op(op).first_region.valid()) {
      work_.push_back(op);
    } else if (const ir::OpId callee = CalleeOf(op); callee.valid()) {
      work_.push_back(callee);
    }
  }

  ir::OpId CalleeOf(ir::OpId op) const {
    for (const std::string_view name : {"callee", "called_computation", "decomposition"}) {
      if (const auto* text = module_.attribute(op, name)) return module_.FindSymbol(ir::AsSymbol(*text));
    }
    return ir::OpId();
  }

  // The collective that an asynchronous start runs; async dones count nothing.
  void VisitAsync(ir::OpId op) {
    if (module_.kind(op) != OpKind::kAsyncStart) return;
    const ir::OpId callee = CalleeOf(op);
    for (const ir::OpId owner : {op, callee}) {
      if (!owner.valid()) continue;
      for (const ir::RegionId region : module_.regions(owner)) {
        for (const ir::BlockId block : module_.region_blocks(region)) {
          for (const ir::OpId inner : module_.block(block).ops) {
            if (ir::IsCollective(module_.kind(inner))) return VisitCollective(inner, op);
          }
        }
      }
    }
  }

  void VisitCollective(ir::OpId op, ir::OpId) {
    std::string name(ir::Traits(module_.kind(op)).spelling);
    std::replace(name.begin(), name.end(), '_', '-');
    int64_t in = 0;
    int64_t out = 0;
    for (const ir::ValueId value : module_.operands(op)) in += Bytes(value);
    for (const ir::ValueId value : module_.results(op)) out += Bytes(value);
    CollectiveSummary& entry = collectives_[name];
    entry.op = name;
    ++entry.count;
    entry.bytes += std::max(in, out);
  }

  int64_t Bytes(ir::ValueId value) const { return ir::ByteSize(module_.types(), module_.type_id(value)); }

  // A library's workspace is the run of bytes at the end of its results.
  bool IsWorkspace(ir::TypeId id) const {
    const ir::Type& type = module_.types()[id];
    return type.is_tensor() && type.dims.size() == 1 && ir::ElementBits(type.element) == 8;
  }

  int64_t ResultBytes(ir::OpId op, bool library) const {
    std::vector<ir::TypeId> parts;
    for (const ir::ValueId value : module_.results(op)) {
      const ir::Type& type = module_.type(value);
      if (type.kind == ir::TypeKind::kTuple) {
        parts.insert(parts.end(), type.nested.begin(), type.nested.end());
      } else {
        parts.push_back(module_.type_id(value));
      }
    }
    if (library && parts.size() > 1 && IsWorkspace(parts.back())) parts.pop_back();
    int64_t sum = 0;
    for (const ir::TypeId part : parts) sum += ir::ByteSize(module_.types(), part);
    return sum;
  }

  void AddKernel(ir::OpId op, KernelSort sort) {
    KernelSummary kernel{.sort = sort, .op = op};
    std::vector<ir::ValueId> sources;
    for (const ir::ValueId value : module_.operands(op)) {
      if (std::find(sources.begin(), sources.end(), value) == sources.end()) sources.push_back(value);
    }
    if (sort == KernelSort::kFusion && module_.body(op).valid()) {
      MeasureFusion(op, kernel);
    } else {
      kernel.bytes = PlainBytes(op, sources) + ResultBytes(op, sort == KernelSort::kLibraryCall);
      kernel.flops = FlopsOf(op);
      if (kernel.flops == 0 && sort == KernelSort::kOther) AddElementwise(op);
    }
    (sort == KernelSort::kFusion        ? summary_.fusions
     : sort == KernelSort::kLibraryCall ? summary_.library_calls
                                        : summary_.other)++;
    summary_.bytes_accessed += kernel.bytes;
    summary_.flops += kernel.flops;
    summary_.kernels.push_back(kernel);
  }

  int64_t PlainBytes(ir::OpId op, const std::vector<ir::ValueId>& sources) const {
    int64_t sum = 0;
    const OpKind kind = module_.kind(op);
    for (const ir::ValueId value : sources) {
      int64_t bytes = Bytes(value);
      if (value == sources[0] && ReadsSlice(kind)) bytes = std::min(bytes, Bytes(module_.result(op)));
      if (value == sources[0] && kind == OpKind::kDynamicUpdateSlice) bytes = 0;
      sum += bytes;
    }
    return sum;
  }

  static bool ReadsSlice(OpKind kind) {
    return kind == OpKind::kSlice || kind == OpKind::kDynamicSlice || kind == OpKind::kGather ||
           kind == OpKind::kDynamicGather;
  }

  // All ops inside a fusion, nested fusions and calls included, and where values pass through their borders.
  struct Inside {
    std::vector<ir::OpId> ops;
    std::unordered_map<ir::ValueId, ir::ValueId> alias;

    ir::ValueId Resolve(ir::ValueId value) const {
      for (auto found = alias.find(value); found != alias.end(); found = alias.find(value)) value = found->second;
      return value;
    }
  };

  void Enter(ir::OpId owner, ir::BlockId block, Inside& inside, int depth) {
    size_t index = 0;
    const auto operands = module_.operands(owner);
    for (const ir::ValueId argument : module_.arguments(block)) {
      if (depth > 0 && index < operands.size()) inside.alias[argument] = operands[index];
      ++index;
    }
    for (const ir::OpId op : module_.block(block).ops) {
      ir::BlockId nested;
      const OpKind kind = module_.kind(op);
      if (kind == OpKind::kFusion) nested = module_.body(op);
      if (kind == OpKind::kFuncCall && CalleeOf(op).valid()) nested = module_.body(CalleeOf(op));
      if (nested.valid() && depth < 8) {
        Enter(op, nested, inside, depth + 1);
      } else if (ir::IsTerminator(kind)) {
        if (depth == 0) continue;
        for (size_t i = 0; i < std::min<size_t>(module_.op(op).operand_count, module_.op(owner).result_count); ++i) {
          inside.alias[module_.result(owner, i)] = module_.operands(op)[i];
        }
      } else {
        inside.ops.push_back(op);
      }
    }
  }

  void MeasureFusion(ir::OpId op, KernelSummary& kernel) {
    Inside inside;
    const ir::BlockId body = module_.body(op);
    Enter(op, body, inside, 0);
    for (const ir::OpId inner : inside.ops) {
      for (size_t i = 0; i < module_.op(inner).operand_count; ++i) {
        const ir::ValueId value = inside.Resolve(module_.operands(inner)[i]);
        uses_.push_back({.value = value, .op = inner, .operand = i, .next = last_use_[value.index()]});
        last_use_[value.index()] = static_cast<uint32_t>(uses_.size());
      }
      const int64_t flops = FlopsOf(inner);
      kernel.flops += flops;
      if (flops == 0) AddElementwise(inner);
    }
    std::unordered_set<ir::ValueId> counted;
    size_t index = 0;
    for (const ir::ValueId argument : module_.arguments(body)) {
      const auto operands = module_.operands(op);
      const ir::ValueId outer = index < operands.size() ? operands[index] : argument;
      ++index;
      if (counted.insert(outer).second) kernel.bytes += ReadBytes(argument);
    }
    for (const Use& use : uses_) last_use_[use.value.index()] = 0;
    uses_.clear();
    kernel.bytes += WrittenBytes(op, body, inside);
  }

  // What a parameter's readers need of it: slices where all of them slice.
  int64_t ReadBytes(ir::ValueId argument) const {
    const int64_t full = Bytes(argument);
    int64_t part = 0;
    std::vector<ir::ValueId> work{argument};
    while (!work.empty()) {
      const ir::ValueId value = work.back();
      work.pop_back();
      if (last_use_[value.index()] == 0) return full;  // a result as it is
      for (uint32_t at = last_use_[value.index()]; at != 0; at = uses_[at - 1].next) {
        const Use& use = uses_[at - 1];
        const OpKind kind = module_.kind(use.op);
        if (kind == OpKind::kBitcast || kind == OpKind::kReshape) {
          work.push_back(module_.result(use.op));
        } else if (use.operand == 0 && ReadsSlice(kind)) {
          part += Bytes(module_.result(use.op));
        } else if (use.operand != 0 || kind != OpKind::kDynamicUpdateSlice) {
          return full;
        }
        if (part >= full) return full;
      }
    }
    return part;
  }

  int64_t WrittenBytes(ir::OpId op, ir::BlockId body, const Inside& inside) const {
    const auto& ops = module_.block(body).ops;
    if (ops.empty()) return ResultBytes(op, false);
    std::vector<ir::ValueId> roots;
    for (const ir::ValueId value : module_.operands(ops.back())) {
      const ir::OpId producer = module_.defining_op(inside.Resolve(value));
      if (producer.valid() && module_.kind(producer) == OpKind::kTuple) {
        const auto members = module_.operands(producer);
        roots.insert(roots.end(), members.begin(), members.end());
      } else {
        roots.push_back(value);
      }
    }
    int64_t sum = 0;
    for (const ir::ValueId root : roots) {
      ir::ValueId value = inside.Resolve(root);
      ir::OpId producer = module_.defining_op(value);
      while (producer.valid() &&
             (module_.kind(producer) == OpKind::kBitcast || module_.kind(producer) == OpKind::kReshape)) {
        value = inside.Resolve(module_.operands(producer)[0]);
        producer = module_.defining_op(value);
      }
      const bool update = producer.valid() && module_.kind(producer) == OpKind::kDynamicUpdateSlice;
      sum += Bytes(update ? module_.operands(producer)[1] : root);
    }
    return sum;
  }

  int64_t FlopsOf(ir::OpId op) const {
    const OpKind kind = module_.kind(op);
    if (kind == OpKind::kDotGeneral || kind == OpKind::kDot) return DotFlops(op);
    if (kind == OpKind::kConvolution) return Times(2, ir::ConvolutionMultiplyAdds(module_, op));
    if (kind != OpKind::kCustomCall) return 0;
    const auto call = ir::LibraryCallOf(module_, op);
    return call ? call->flops() : 0;
  }

  static int64_t Times(int64_t a, int64_t b) {
    int64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
  }

  int64_t DotFlops(ir::OpId op) const {
    const auto dims = ir::DotDimensionsOf(module_, op);
    if (!dims) return 0;
    int64_t flops = Times(2, module_.type(module_.result(op)).element_count());
    const auto& lhs = module_.type(module_.operands(op)[0]).dims;
    for (const int64_t d : dims->lhs_contracting) {
      if (d >= 0 && static_cast<size_t>(d) < lhs.size()) flops = Times(flops, lhs[static_cast<size_t>(d)]);
    }
    return flops;
  }

  void AddElementwise(ir::OpId op) {
    const OpSort sort = ir::Traits(module_.kind(op)).sort;
    if (module_.op(op).result_count == 0) return;
    if (sort == OpSort::kElementwise && module_.kind(op) != OpKind::kConvert) {
      summary_.elementwise_flops += module_.type(module_.result(op)).element_count();
    }
    if (sort == OpSort::kReduction) summary_.elementwise_flops += module_.type(module_.operands(op)[0]).element_count();
  }

  // One operand inside the fusion that is being measured; `next` counts from 1, 0 ends the list of a value's uses.
  struct Use {
    ir::ValueId value;
    ir::OpId op;
    size_t operand;
    uint32_t next;
  };

  const ir::Module& module_;
  std::vector<Use> uses_;
  std::vector<uint32_t> last_use_;  // by value
  Summary summary_;
  std::vector<ir::OpId> work_;
  std::map<std::string, CollectiveSummary> collectives_;
  size_t visits_ = 0;
};

}  // namespace

Summary Summarise(const ir::Module& module) { return Summariser(module).Run(); }

std::string SummaryJson(const Summary& summary, const std::vector<std::string>& passes) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson collectives = OrderedJson::array();
  for (const CollectiveSummary& entry : summary.collectives) {
    collectives.push_back({{"op", entry.op}, {"count", entry.count}, {"bytes", entry.bytes}});
  }
  const OrderedJson out{{"schema_version", 1},
                        {"kernels",
                         {{"total", summary.total()},
                          {"fusions", summary.fusions},
                          {"library_calls", summary.library_calls},
                          {"other", summary.other}}},
                        {"flops", summary.flops},
                        {"elementwise_flops", summary.elementwise_flops},
                        {"bytes_accessed", summary.bytes_accessed},
                        {"collectives", collectives},
                        {"passes", passes}};
  return JsonText(out, 2) + "\n";
}

}  // namespace hespas::driver
