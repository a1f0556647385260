#include "read/msccl/msccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "read/msccl/algo.h"

namespace hespas::read::msccl {
namespace {

using trace::Node;
using trace::NodeKind;
using trace::Program;

// Pieces of a step in their order: r receive, c compute (reduction or copy), s send.
struct StepType {
  std::string_view name;
  std::string_view pieces;
};

constexpr StepType kStepTypes[] = {{"s", "s"},      {"r", "r"},   {"rrc", "rc"}, {"rcs", "rs"}, {"rrs", "rcs"},
                                   {"rrcs", "rcs"}, {"cpy", "c"}, {"re", "c"},   {"nop", ""}};

const StepType* TypeOf(std::string_view name) {
  const auto at =
      std::find_if(std::begin(kStepTypes), std::end(kStepTypes), [&](const StepType& t) { return t.name == name; });
  return at == std::end(kStepTypes) ? nullptr : at;
}

// The reference converter's reduction: two reads and one write at 50 bytes per ns, in whole microseconds.
Time ReductionTime(int64_t bytes) { return Time(3 * (bytes / 50) / 1000 * 1'000'000); }

struct StepPlace {
  size_t block = 0;
  size_t step = 0;
  auto operator<=>(const StepPlace&) const = default;
};

class GpuConverter {
 public:
  // `chunk`: bytes, or 0 to state messages as parts of `parts`.
  GpuConverter(const Algorithm& algorithm, const Gpu& gpu, const std::string& file, int64_t chunk, int64_t parts)
      : algorithm_(algorithm), gpu_(gpu), file_(file), chunk_(chunk), parts_(parts) {}

  Result<Program> Convert() {
    if (Status numbered = Number(); !numbered) return numbered.error();
    for (const auto& [place, id] : first_id_) {
      const Step& step = StepAt(place);
      const bool local = step.type == "cpy" || step.type == "re";
      if (local && !awaited_.contains(place)) continue;
      if (Status emitted = Emit(place, id); !emitted) return emitted.error();
    }
    return std::move(program_);
  }

 private:
  const Step& StepAt(const StepPlace& place) const { return gpu_.blocks[place.block].steps[place.step]; }

  Error Bad(const Step& step, std::string message) const {
    return MakeError(kBadSchedule, fmt::format("gpu {}: {}", gpu_.id, message), {.file = file_, .line = step.line});
  }

  // Gives every piece of every step its id, in document order; a step without pieces uses one up.
  Status Number() {
    uint64_t next = 0;
    for (size_t b = 0; b < gpu_.blocks.size(); ++b) {
      if (!block_of_.try_emplace(gpu_.blocks[b].id, b).second) {
        return MakeError(kBadSchedule, fmt::format("gpu {}: thread block {} appears twice", gpu_.id, gpu_.blocks[b].id),
                         {.file = file_});
      }
      for (size_t s = 0; s < gpu_.blocks[b].steps.size(); ++s) {
        const Step& step = gpu_.blocks[b].steps[s];
        const StepType* type = TypeOf(step.type);
        if (type == nullptr) return Bad(step, fmt::format("unknown step type `{}`", step.type.substr(0, 20)));
        first_id_[{b, s}] = next;
        next += std::max<size_t>(1, type->pieces.size());
      }
    }
    for (const auto& [place, id] : first_id_) {
      const auto target = Target(StepAt(place));
      if (!target) return target.error();
      if (*target) awaited_.insert(**target);
    }
    return {};
  }

  // The step that `step` names by depid and deps.
  Result<std::optional<StepPlace>> Target(const Step& step) const {
    if (step.depends_block < 0) return std::optional<StepPlace>();
    const auto block = block_of_.find(step.depends_block);
    if (block == block_of_.end() || step.depends_step < 0 ||
        static_cast<size_t>(step.depends_step) >= gpu_.blocks[block->second].steps.size()) {
      return Bad(step, fmt::format("there is no step {} in thread block {} to wait for", step.depends_step,
                                   step.depends_block));
    }
    return std::optional(StepPlace{block->second, static_cast<size_t>(step.depends_step)});
  }

  bool Emitted(const StepPlace& place) const {
    const Step& step = StepAt(place);
    if (step.type == "cpy" || step.type == "re") return awaited_.contains(place);
    return step.type != "nop";
  }

  uint64_t LastId(const StepPlace& place) const {
    return first_id_.at(place) + TypeOf(StepAt(place).type)->pieces.size() - 1;
  }

  // The step's own target; then the step before it in its block, where nops represent their targets.
  std::vector<uint64_t> Dependencies(const StepPlace& place) const {
    std::vector<uint64_t> ids;
    const auto add = [&](const StepPlace& on) {
      if (!Emitted(on)) return;
      const uint64_t id = LastId(on);
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    };
    if (const auto target = *Target(StepAt(place))) add(*target);
    for (size_t s = place.step; s-- > 0;) {
      const StepPlace before{place.block, s};
      if (Emitted(before)) {
        add(before);
        break;
      }
      if (const auto target = *Target(StepAt(before))) add(*target);
    }
    return ids;
  }

  Status Emit(const StepPlace& place, uint64_t id) {
    const Step& step = StepAt(place);
    const ThreadBlock& block = gpu_.blocks[place.block];
    int64_t bytes = 0;
    if (__builtin_mul_overflow(chunk_, step.count, &bytes) || bytes < 0) return Bad(step, "the size is out of range");
    std::vector<uint64_t> dependencies = Dependencies(place);
    for (const char piece : TypeOf(step.type)->pieces) {
      Node node;
      trace::NodeDetails details;
      node.id = id;
      if (piece == 'c') {
        node.kind = NodeKind::kCompute;
        node.duration = ReductionTime(bytes);
        node.name = program_.Name(fmt::format("COMP_NODE_tb{}_step{}", block.id, place.step));
      } else {
        const int64_t peer = piece == 's' ? block.send : block.receive;
        if (peer < 0 || peer >= algorithm_.gpu_count || peer == gpu_.id) {
          return Bad(step, fmt::format("step `{}` in thread block {} has no GPU to {}", step.type, block.id,
                                       piece == 's' ? "send to" : "receive from"));
        }
        if (parts_ > 0) {
          details.chunks = static_cast<uint32_t>(std::max<int64_t>(0, step.count));
          details.total_chunks = static_cast<uint32_t>(parts_);
        }
        if (bytes == 0 && details.chunks == 0)
          return Bad(step, "a message of 0 bytes; the collective is smaller than its number of chunks");
        node.kind = piece == 's' ? NodeKind::kSend : NodeKind::kReceive;
        node.peer = static_cast<int32_t>(peer);
        node.size = Bytes(bytes);
        node.tag = static_cast<int32_t>(std::max<int64_t>(0, block.channel));
        node.name = program_.Name(
            fmt::format("COMM_{}_NODE_tb{}_step{}", piece == 's' ? "SEND" : "RECV", block.id, place.step));
      }
      node.first_dependency = static_cast<uint32_t>(program_.dependencies.size());
      node.dependency_count = static_cast<uint32_t>(dependencies.size());
      program_.dependencies.insert(program_.dependencies.end(), dependencies.begin(), dependencies.end());
      if (parts_ > 0) program_.SetDetails(program_.nodes.size(), details);
      program_.nodes.push_back(node);
      dependencies = {id++};
    }
    return {};
  }

  const Algorithm& algorithm_;
  const Gpu& gpu_;
  const std::string& file_;
  int64_t chunk_;
  int64_t parts_;
  std::map<int64_t, size_t> block_of_;
  std::map<StepPlace, uint64_t> first_id_;
  std::set<StepPlace> awaited_;
  Program program_;
};

// All-gather and reduce state the contribution of one rank, which is one chunk.
int64_t ChunksOf(const Algorithm& algorithm, const Gpu& gpu) {
  if (algorithm.collective == "allgather" || algorithm.collective == "reduce") return 1;
  return std::max<int64_t>(1, gpu.input_chunks > 0 ? gpu.input_chunks : gpu.output_chunks);
}

}  // namespace

Result<Schedule> ReadSchedule(std::string_view xml, const std::string& file, Bytes size) {
  const Result<Algorithm> algorithm = ParseAlgorithm(xml, file);
  if (!algorithm) return algorithm.error();
  Schedule schedule{.name = algorithm->name, .collective = algorithm->collective, .graph = {}};
  for (const Gpu& gpu : algorithm->gpus) {
    if (gpu.id < 0 || gpu.id >= algorithm->gpu_count) {
      return MakeError(kBadSchedule, fmt::format("gpu {} of {}", gpu.id, algorithm->gpu_count), {.file = file});
    }
    const int64_t chunks = ChunksOf(*algorithm, gpu);
    Result<Program> program =
        GpuConverter(*algorithm, gpu, file, size.value / chunks, size.value == 0 ? chunks : 0).Convert();
    if (!program) return program.error();
    if (!schedule.graph.ranks.try_emplace(static_cast<uint32_t>(gpu.id), *std::move(program)).second) {
      return MakeError(kBadSchedule, fmt::format("gpu {} appears twice", gpu.id), {.file = file});
    }
  }
  if (schedule.graph.ranks.size() != static_cast<size_t>(algorithm->gpu_count) || algorithm->gpu_count == 0) {
    return MakeError(
        kBadSchedule,
        fmt::format("the schedule has {} GPUs instead of {}", schedule.graph.ranks.size(), algorithm->gpu_count),
        {.file = file});
  }
  return schedule;
}

}  // namespace hespas::read::msccl
