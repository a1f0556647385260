#include "optimise/gpu/repeat_on_gpu.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "optimise/gpu/decisions.h"
#include "optimise/gpu/kernel_use.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr size_t kReaderLimit = 256;
constexpr size_t kManyReaders = 16;  // a value with more is looked at again only when its turn comes

class Repeater {
 public:
  Repeater(const Dataflow& flow, const PassContext& context, KernelPlan& plan, std::span<const NodeId> open)
      : flow_(flow),
        context_(context),
        plan_(plan),
        users_(flow.Users()),
        counter_(flow, context, plan, true),
        uses_(plan.roots.size()),
        open_(flow.node_count(), 0),
        gain_(flow.node_count(), 0),
        version_(flow.node_count(), 0),
        reader_count_(flow.node_count(), 0),
        is_outdated_(flow.node_count(), 0),
        seen_(flow.node_count(), 0) {
    for (const NodeId id : open) open_[id.index()] = 1;
    for (const NodeId id : open) Evaluate(id);
  }

  std::vector<char> Run() {
    std::vector<char> repeated(flow_.node_count(), 0);
    while (!queue_.empty() || !outdated_.empty()) {
      if (queue_.empty()) {
        const std::vector<NodeId> outdated = std::move(outdated_);
        outdated_.clear();
        for (const NodeId id : outdated) Refresh(id);
        continue;
      }
      const auto [gain, node, version] = queue_.top();
      queue_.pop();
      if (version != version_[node] || !open_[node] || Refresh(NodeId(node))) continue;
      repeated[node] = 1;
      Dissolve(NodeId(node));
    }
    return repeated;
  }

 private:
  const KernelUse& Use(uint32_t kernel) {
    if (!uses_[kernel]) uses_[kernel] = counter_.Count(kernel);
    return *uses_[kernel];
  }

  // The kernels that hold a reader of a value.
  std::vector<uint32_t> ReadersOf(NodeId value) {
    std::vector<uint32_t> readers;
    std::vector<NodeId> work{value};
    ++search_;
    while (!work.empty()) {
      const NodeId at = work.back();
      work.pop_back();
      for (const NodeId user : users_[flow_.result(at).index()]) {
        if (seen_[user.index()] == search_ || plan_.classes[user.index()] == FusionClass::kBarrier) continue;
        seen_[user.index()] = search_;
        if (plan_.stored[user.index()]) {
          readers.push_back(plan_.kernel[user.index()]);
        } else if (flow_.node(user).result_count == 1) {
          work.push_back(user);
        }
      }
    }
    std::sort(readers.begin(), readers.end());
    return readers;
  }

  // A value turned for several library calls: with one batch dimension XLA turns it for one call and counts the others
  // as readers, too.
  double CallsOf(NodeId root, WireId value) const {
    const Node& node = flow_.node(root);
    const auto& dims = flow_.type(value).dims;
    const auto wide = std::count_if(dims.begin(), dims.end(), [](int64_t d) { return d > 1; });
    if (node.kind != OpKind::kTranspose || node.operands[0] != value || wide > 3) return 1;
    const auto is = [&](NodeId id, FusionClass kind) { return plan_.classes[id.index()] == kind; };
    double calls = 0;
    for (const NodeId user : users_[node.first_result.index()]) {
      calls += is(user, FusionClass::kBarrier);
      if (!is(user, FusionClass::kView)) continue;
      for (const NodeId reader : users_[flow_.result(user).index()]) calls += is(reader, FusionClass::kBarrier);
    }
    return std::max(1.0, calls);
  }

  void AddFacts(NodeId id, const std::vector<uint32_t>& readers, std::vector<double>& facts) {
    const WireId wire = flow_.result(id);
    const KernelUse& made = Use(plan_.kernel[id.index()]);
    facts.insert(facts.end(), {made.operations, made.written, made.blocks, static_cast<double>(made.reads.size())});
    for (const auto& read : made.reads) facts.insert(facts.end(), {read.size, read.size * read.times});
    for (const uint32_t kernel : readers) {
      const KernelUse& reader = Use(kernel);
      const KernelUse::Read* through = reader.Of(wire);
      if (through == nullptr) continue;
      const double blocks = reader.reduces ? reader.blocks : std::max(reader.blocks, made.blocks);
      facts.insert(facts.end(), {CallsOf(plan_.roots[kernel][0], wire), reader.operations, reader.written,
                                 reader.blocks, through->times, blocks, static_cast<double>(reader.reads.size())});
      for (const auto& read : reader.reads) facts.insert(facts.end(), {read.size, read.size * read.times});
      const size_t count = facts.size();
      facts.push_back(0);
      reader.ReadWith(made, *through, [&](const KernelUse::Read& read, double times) {
        facts.insert(facts.end(), {read.size, read.size * times});
      });
      const size_t values = (facts.size() - count - 1) / 2;
      facts[count] = static_cast<double>(values);
    }
  }

  void Evaluate(NodeId id) {
    ++version_[id.index()];
    const std::vector<uint32_t> readers = ReadersOf(id);
    reader_count_[id.index()] = readers.size();
    is_outdated_[id.index()] = 0;
    gain_[id.index()] = -1;
    if (readers.size() > kReaderLimit) return;
    facts_.clear();
    AddFacts(id, readers, facts_);
    gain_[id.index()] = GainOfRepeating(facts_, context_.gpu);
    if (gain_[id.index()] >= 0) queue_.emplace(gain_[id.index()], id.value, version_[id.index()]);
    if (context_.decisions != nullptr) context_.decisions->Ask({QuestionKind::kRepeatOnGpu, facts_}, context_.gpu);
  }

  // Looks again at what was put off; false where nothing was.
  bool Refresh(NodeId id) {
    if (!is_outdated_[id.index()] || !open_[id.index()]) return false;
    Evaluate(id);
    return true;
  }

  void LookAgain(NodeId id) {
    if (reader_count_[id.index()] <= kManyReaders) return Evaluate(id);
    if (is_outdated_[id.index()]) return;
    is_outdated_[id.index()] = 1;
    outdated_.push_back(id);
  }

  // Open values that the kernels of its readers make or read, or that it reads itself.
  std::vector<NodeId> NeighboursOf(NodeId id, const std::vector<uint32_t>& readers) {
    std::vector<NodeId> found;
    const auto add = [&](NodeId other) {
      if (other.valid() && other != id && open_[other.index()]) found.push_back(other);
    };
    const auto add_reads = [&](uint32_t kernel) {
      for (const auto& read : Use(kernel).reads) add(flow_.maker(read.wire));
    };
    add_reads(plan_.kernel[id.index()]);
    for (const uint32_t reader : readers) {
      add(plan_.roots[reader][0]);
      add_reads(reader);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  // Another device does the same where of two values that touch each other the same one goes first.
  void NoteOrder(NodeId first, NodeId second) {
    Question question{QuestionKind::kBefore, {first < second ? 1.0 : 0.0, 0}};
    AddFacts(first, ReadersOf(first), question.facts);
    question.facts[1] = static_cast<double>(question.facts.size() - 2);
    AddFacts(second, ReadersOf(second), question.facts);
    context_.decisions->Ask(std::move(question), context_.gpu);
  }

  void Dissolve(NodeId id) {
    const std::vector<uint32_t> readers = ReadersOf(id);
    const std::vector<NodeId> neighbours = NeighboursOf(id, readers);
    for (const NodeId other : neighbours) {
      if (context_.decisions != nullptr && gain_[other.index()] >= 0) NoteOrder(id, other);
    }
    const uint32_t kernel = plan_.kernel[id.index()];
    plan_.stored[id.index()] = 0;
    plan_.roots[kernel].clear();
    open_[id.index()] = 0;
    uses_[kernel].reset();
    for (const uint32_t reader : readers) uses_[reader].reset();
    for (const NodeId other : neighbours) LookAgain(other);
  }

  const Dataflow& flow_;
  const PassContext& context_;
  KernelPlan& plan_;
  UserTable users_;
  KernelCounter counter_;
  std::vector<std::optional<KernelUse>> uses_;  // by kernel
  std::vector<char> open_;                      // by node
  std::vector<double> gain_;                    // by node: seconds
  std::vector<uint32_t> version_;               // by node: of its gain
  std::vector<size_t> reader_count_;            // by node, when it was last looked at
  std::vector<char> is_outdated_;               // by node
  std::vector<NodeId> outdated_;
  std::vector<double> facts_;   // of the question at hand
  std::vector<uint32_t> seen_;  // by node: the search that last came by
  uint32_t search_ = 0;
  // gain, node and version of it; among equals the last of the program first, as XLA has them
  std::priority_queue<std::tuple<double, uint32_t, uint32_t>> queue_;
};

}  // namespace

std::vector<char> RepeatOnGpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan,
                              std::span<const NodeId> open) {
  return Repeater(flow, context, plan, open).Run();
}

}  // namespace hespas::optimise
