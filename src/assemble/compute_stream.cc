#include "assemble/compute_stream.h"

#include <algorithm>
#include <utility>

namespace hespas::assemble {
namespace {

// Of the last node, whose dependencies are the last ones. `nodes` are different ones.
void WaitFor(const std::vector<uint64_t>& nodes, trace::Program& program) {
  trace::Node& node = program.nodes.back();
  std::vector<uint64_t> own(program.dependencies.begin() + node.first_dependency, program.dependencies.end());
  std::ranges::sort(own);
  for (const uint64_t before : nodes) {
    if (std::ranges::binary_search(own, before)) continue;
    program.dependencies.push_back(before);
    ++node.dependency_count;
    ++node.control_dependency_count;
  }
}

}  // namespace

void ComputeStream::Add(trace::Program& program) {
  WaitFor(messages_, program);
  since_.push_back(program.nodes.back().id);
}

// What follows the messages before waits for them already.
void ComputeStream::AddMessage(trace::Program& program) {
  WaitFor(since_.empty() ? messages_ : since_, program);
  begun_.push_back(program.nodes.back().id);
}

void ComputeStream::EndMessages() {
  if (begun_.empty()) return;
  messages_ = std::exchange(begun_, {});
  since_.clear();
}

}  // namespace hespas::assemble
