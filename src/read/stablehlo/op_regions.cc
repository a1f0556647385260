// Regions and blocks of OpReader, and uses that are before their definition.
#include <fmt/format.h>

#include <algorithm>

#include "read/stablehlo/errors.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {

bool OpReader::OpenRegion(Step then, bool isolated, bool entry_block) {
  if (frames_.size() > kMaxRegionDepth) {
    return c.Fail(kTooDeep, fmt::format("regions are nested over {} deep here", kMaxRegionDepth));
  }
  if (!c.Expect('{')) return false;
  Frame frame;
  frame.first_op = m.op_count();
  frame.then = then;
  frame.isolated = isolated;
  frame.mark = names_.Enter(isolated);
  std::vector<RegionArgument> arguments = std::move(draft.arguments);
  draft.arguments.clear();
  frame.draft = std::move(draft);
  if (spare_drafts_.empty()) {
    draft = Draft();
  } else {
    draft = std::move(spare_drafts_.back());
    spare_drafts_.pop_back();
  }
  frames_.push_back(std::move(frame));
  opened_ = true;
  const char next = c.Peek();
  if (arguments.empty() && (next == '^' || (next == '}' && !entry_block))) return true;
  Frame& top = frames_.back();
  top.block = AddBlock(arguments);
  top.blocks.push_back(top.block);
  draft.arguments = std::move(arguments);
  return DefineArguments(top.block);
}

ir::BlockId OpReader::AddBlock(const std::vector<RegionArgument>& arguments) {
  argument_types_.clear();
  for (const RegionArgument& argument : arguments) argument_types_.push_back(argument.type);
  return m.AddBlock(argument_types_);
}

bool OpReader::DefineArguments(ir::BlockId block) {
  size_t index = 0;
  for (const RegionArgument& argument : draft.arguments) {
    const ir::ValueId value = m.arguments(block)[index++];
    if (!names_.Define(argument.name.name, value, 1)) {
      return c.Fail(kRedefinedValue, argument.name.offset, "this value is defined already", "give it another name");
    }
    if (!pending_.empty()) PatchPending(argument.name.name, value, 1);
  }
  draft.arguments.clear();
  return true;
}

bool OpReader::StartBlock() {
  draft.Clear();
  const size_t offset = c.offset();
  const char* start = c.at();
  c.Advance();
  while (IsIdent(*c) || *c == '-') c.Advance();
  const std::string_view label = c.From(start);
  if (label.size() < 2) return c.FailExpected("a block's name after `^`");
  if (c.Eat('(') && !c.Eat(')')) {
    do {
      if (!ReadArgument(true)) return false;
    } while (c.Eat(','));
    if (!c.Expect(')')) return false;
  }
  if (!c.Expect(':')) return false;
  Frame& frame = frames_.back();
  if (!frame.labels.emplace(label, static_cast<uint32_t>(frame.blocks.size())).second) {
    return c.Fail(kRedefinedValue, offset, fmt::format("block `{}` is defined already", label));
  }
  frame.block = AddBlock(draft.arguments);
  frame.blocks.push_back(frame.block);
  return DefineArguments(frame.block);
}

bool OpReader::ResolveBranches(Frame& frame) {
  for (const auto& [op, labels] : frame.branches) {
    std::string indices;
    for (size_t at = labels.find('^'); at != std::string_view::npos; at = labels.find('^', at + 1)) {
      size_t end = at + 1;
      while (end < labels.size() && (IsIdent(labels[end]) || labels[end] == '-')) ++end;
      const auto found = frame.labels.find(labels.substr(at, end - at));
      if (found == frame.labels.end()) {
        return c.Fail(kUndefinedValue, static_cast<size_t>(labels.data() + at - m.source().data()),
                      fmt::format("block `{}` is not defined", labels.substr(at, end - at)));
      }
      indices += fmt::format("{}{}", indices.empty() ? "" : ", ", found->second);
    }
    const auto old = m.attributes(op);
    std::vector<ir::Attribute> attributes_now(old.begin(), old.end());
    attributes_now.push_back({m.InternName("^successors"), m.Keep(std::move(indices))});
    m.SetAttributes(op, attributes_now);
  }
  return true;
}

bool OpReader::CloseRegion() {
  c.Advance();
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  const uint32_t scope = names_.scope();
  names_.Leave(frame.mark);
  draft.Clear();
  spare_drafts_.push_back(std::move(draft));
  draft = std::move(frame.draft);
  if (frame.isolated) ReportPending(scope);
  if (!ResolveBranches(frame)) return false;
  draft.regions.push_back(m.AddRegion(frame.blocks));
  opened_ = false;
  if (!frame.then(*this)) return false;
  return opened_ || FinishOp();
}

// --- uses before their definition
// --------------------------------------------------------------------------------------

void OpReader::NotePending(ir::OpId op) {
  for (size_t i = 0; i < draft.operands.size(); ++i) {
    const Use& use = draft.operands[i];
    if (use.value.valid() || use.poisoned) continue;
    pending_[names_.scope()][use.name].push_back({op, static_cast<uint32_t>(i), use.offset, use.number});
  }
}

// A value is visible in its own region and in those inside it, whose ops were read since the region began. Uses by
// earlier ops wait for a definition in a region around both.
void OpReader::PatchPending(ValueNames::Ref ref, ir::ValueId first, uint32_t count) {
  const auto scope = pending_.find(names_.scope());
  if (scope == pending_.end()) return;
  const auto found = scope->second.find(ref);
  if (found == scope->second.end()) return;
  std::vector<PendingUse>& uses = found->second;  // in the order of their ops
  const size_t region = frames_.empty() ? 0 : frames_.back().first_op;
  const auto inside =
      std::partition_point(uses.begin(), uses.end(), [&](const PendingUse& use) { return use.op.index() < region; });
  uses.erase(std::remove_if(inside, uses.end(),
                            [&](const PendingUse& use) {
                              if (use.number >= count) return false;
                              m.SetOperand(use.op, use.index, ir::ValueId(first.index() + use.number));
                              return true;
                            }),
             uses.end());
  if (!uses.empty()) return;
  scope->second.erase(found);
  if (scope->second.empty()) pending_.erase(scope);
}

void OpReader::ReportPending(uint32_t scope) {
  const auto found = pending_.find(scope);
  if (found == pending_.end()) return;
  std::vector<PendingUse> lost;
  for (const auto& [name, uses] : found->second) lost.insert(lost.end(), uses.begin(), uses.end());
  pending_.erase(found);
  std::sort(lost.begin(), lost.end(), [](const PendingUse& a, const PendingUse& b) { return a.offset < b.offset; });
  for (const PendingUse& use : lost) {
    if (!diagnostics_.wants_more()) return;
    const char* start = m.source().data() + use.offset + 1;
    const char* end = start;
    while (IsIdent(*end) || *end == '-') ++end;
    const std::string_view name(start, static_cast<size_t>(end - start));
    diagnostics_.Error(kUndefinedValue, fmt::format("`%{}` is not defined in this function", name),
                       m.LocationAt(use.offset));
  }
}

}  // namespace hespas::read
