#include "report/step/block_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text/hash.h"
#include "ir/facts/fusion.h"
#include "report/step/account.h"
#include "report/step/breakdown.h"
#include "report/step/kernel_name.h"
#include "report/step/op_labels.h"
#include "report/step/scope_path.h"
#include "report/text/json_quote.h"

namespace hespas::report {
namespace {

using result::BlockStructure;
using result::BlockTimes;

constexpr DiagnosticKind kBadBlockTimes{
    "E0990",
    "The member `block_times` of a result.json is not what `hespas run` writes: a column has another length than the "
    "others, or a number that is out of range. Make the file again."};

// Equal texts once, by number.
class Numbered {
 public:
  explicit Numbered(std::vector<std::string>& texts) : texts_(texts) {}
  uint32_t Of(std::string_view text) {
    const auto [found, added] = index_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
    if (added) texts_.push_back(found->first);
    return found->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, uint32_t> index_;
};

class Maker {
 public:
  Maker(const StepView& step, BlockTimes& out)
      : step_(step),
        module_(*step.blocks.module),
        hlo_(module_.source().substr(0, 4096).find("HloModule") != std::string_view::npos),
        names_(out.names),
        scopes_(out.scopes),
        named_(step),
        out_(out) {}

  void Make(const Account& account) {
    for (uint32_t i = 0; i < step_.blocks.blocks.size(); ++i) {
      const graph::Block& block = step_.blocks.blocks[i];
      if (block.ops.empty()) continue;
      const ir::OpId longest = block.ops[named_.LongestOp(i)];
      const std::string framework = FrameworkName(module_, longest);
      out_.ops.push_back(OpsOf(longest, block));
      out_.blocks.push_back(
          {.structure = StructureOf(i, block),
           .name = names_.Of(!hlo_ && longest == block.ops.back() ? framework : NameOf(block.ops.back())),
           .scope = scopes_.Of(ScopePath(framework)),
           .time = account.computed[i] + account.exposed[i]});
    }
    out_.idle = account.idle;
  }

 private:
  // Constants, scalars and what only changes a shape tell no kernel from another.
  bool IsTelling(ir::OpId op) const {
    const ir::OpSort sort = ir::Traits(module_.kind(op)).sort;
    const bool works = sort != ir::OpSort::kLayout && sort != ir::OpSort::kConstant && sort != ir::OpSort::kFree &&
                       sort != ir::OpSort::kTerminator && sort != ir::OpSort::kStructure;
    const auto& made = module_.op(op);
    if (!works || made.source == 0 || made.result_count == 0) return false;
    const ir::Type& type = module_.type(module_.result(op));
    return !type.is_tensor() || !type.dims.empty();
  }

  std::vector<uint32_t> OpsOf(ir::OpId longest, const graph::Block& block) const {
    std::vector<uint32_t> others;
    for (const ir::OpId op : block.ops) {
      const bool fused = module_.kind(op) == ir::OpKind::kFusion;
      for (const ir::OpId inner : fused ? ir::FusedOps(module_, op) : std::vector{op}) {
        if (IsTelling(inner)) others.push_back(module_.op(inner).source);
      }
    }
    const uint32_t hero = module_.op(HeroOf(module_, longest)).source;
    if (hero == 0) return {};
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    std::erase(others, hero);
    others.insert(others.begin(), hero);
    return others;
  }

  uint32_t StructureOf(uint32_t id, const graph::Block& block) {
    const bool computes = step_.estimates.of_block[id] != graph::EstimateTable::kNone;
    const Hash128 hash = computes ? block.hash : CommunicationHash(block);
    const auto [found, added] = structures_.try_emplace(hash, static_cast<uint32_t>(out_.structures.size()));
    if (!added) return found->second;
    const ir::OpId op = computes ? CostliestOp(step_, step_.estimates.of_block[id]) : block.ops.back();
    const graph::Estimate* estimate = step_.estimates.Of(graph::BlockId(size_t{id}));
    out_.structures.push_back(
        {.hash = hash.hex(),
         .op = OpText(module_, op),
         .kind = std::string(KindLabel(module_, op)),
         .shapes = Shapes(step_.blocks, block),
         .bound = std::string(graph::BoundName(estimate != nullptr ? estimate->bound : graph::Bound::kNetwork))});
    return found->second;
  }

  // Of what a communication moves and between whom; channel numbers do not count.
  Hash128 CommunicationHash(const graph::Block& block) const {
    const ir::OpId op = block.ops.back();
    std::string text = fmt::format("{} {}", KindLabel(module_, op), Shapes(step_.blocks, block));
    for (const std::string_view key : {"replica_groups", "source_target_pairs"}) {
      if (const std::string_view* value = module_.attribute(op, key)) text += fmt::format(" {}={}", key, *value);
    }
    return HashBytes(text);
  }

  // A profiler of a compiled program calls a kernel by its instruction, one of a framework's program by that of the op.
  std::string NameOf(ir::OpId op) const {
    if (!hlo_) return FrameworkName(module_, op);
    std::string_view line = module_.source().substr(module_.op(op).source);
    line = line.substr(0, line.find('\n'));
    if (line.starts_with("ROOT ")) line.remove_prefix(5);
    if (line.starts_with('%')) line.remove_prefix(1);
    const size_t end = line.find(" = ");
    return end == std::string_view::npos ? FrameworkName(module_, op) : std::string(line.substr(0, end));
  }

  const StepView& step_;
  const ir::Module& module_;
  bool hlo_;
  Numbered names_;
  Numbered scopes_;
  KernelNames named_;
  BlockTimes& out_;
  std::unordered_map<Hash128, uint32_t> structures_;
};

// A column of whole numbers below `limit`.
std::optional<std::vector<int64_t>> ColumnOf(const nlohmann::json& member, const char* key, int64_t limit) {
  const auto found = member.find(key);
  if (found == member.end() || !found->is_array()) return std::nullopt;
  std::vector<int64_t> out;
  for (const auto& value : *found) {
    if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() >= limit) return std::nullopt;
    out.push_back(value.get<int64_t>());
  }
  return out;
}

std::optional<std::vector<std::string>> TextsOf(const nlohmann::json& member, const char* key) {
  const auto found = member.find(key);
  if (found == member.end() || !found->is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const auto& text : *found) {
    if (!text.is_string()) return std::nullopt;
    out.push_back(text.get<std::string>());
  }
  return out;
}

std::optional<std::vector<BlockStructure>> StructuresOf(const nlohmann::json& member) {
  const auto found = member.find("structures");
  if (found == member.end() || !found->is_array()) return std::nullopt;
  std::vector<BlockStructure> out;
  for (const auto& entry : *found) {
    BlockStructure structure;
    const std::pair<const char*, std::string*> texts[] = {{"hash", &structure.hash},
                                                          {"op", &structure.op},
                                                          {"kind", &structure.kind},
                                                          {"shapes", &structure.shapes},
                                                          {"bound", &structure.bound}};
    for (const auto& [key, text] : texts) {
      if (!entry.is_object() || !entry.contains(key) || !entry[key].is_string()) return std::nullopt;
      *text = entry[key].get<std::string>();
    }
    out.push_back(std::move(structure));
  }
  return out;
}

// The column `ops`, cut by `op_count`.
std::optional<std::vector<std::vector<uint32_t>>> OpsIn(const nlohmann::json& member, size_t blocks) {
  const auto counts = ColumnOf(member, "op_count", std::numeric_limits<int32_t>::max());
  const auto ops = ColumnOf(member, "ops", std::numeric_limits<uint32_t>::max());
  if (!counts || !ops || counts->size() != blocks) return std::nullopt;
  std::vector<std::vector<uint32_t>> out;
  size_t next = 0;
  for (const int64_t count : *counts) {
    if (static_cast<size_t>(count) > ops->size() - next) return std::nullopt;
    const auto begin = ops->begin() + static_cast<std::ptrdiff_t>(next);
    out.emplace_back(begin, begin + count);
    next += static_cast<size_t>(count);
  }
  return out;
}

}  // namespace

BlockTimes MakeBlockTimes(const StepView& step, uint32_t npu) {
  BlockTimes out{.npu = npu};
  Maker(step, out).Make(MakeAccount(step, npu));
  return out;
}

// Written piece by piece: a tree of thousands of entries would cost more than the figures in it.
std::string ToJson(const BlockTimes& times) {
  std::string out = fmt::format("{{\"npu\":{},\"structures\":[", times.npu);
  const char* comma = "";
  for (const BlockStructure& s : times.structures) {
    out.append(std::exchange(comma, ",")).append("{\"hash\":").append(QuotedJson(s.hash));
    out.append(",\"op\":").append(QuotedJson(s.op)).append(",\"kind\":").append(QuotedJson(s.kind));
    out.append(",\"shapes\":").append(QuotedJson(s.shapes)).append(",\"bound\":").append(QuotedJson(s.bound)) += '}';
  }
  out += "],\"names\":[";
  comma = "";
  for (const std::string& name : times.names) out.append(std::exchange(comma, ",")).append(QuotedJson(name));
  out += "],\"scopes\":[";
  comma = "";
  for (const std::string& scope : times.scopes) out.append(std::exchange(comma, ",")).append(QuotedJson(scope));
  const auto column = [&](const char* key, auto&& figure) {
    out.append("],\"").append(key).append("\":[");
    comma = "";
    for (const result::BlockTime& block : times.blocks) {
      const fmt::format_int digits(figure(block));
      out.append(std::exchange(comma, ",")).append(digits.data(), digits.size());
    }
  };
  column("structure", [](const result::BlockTime& block) { return block.structure; });
  column("name", [](const result::BlockTime& block) { return block.name; });
  column("scope", [](const result::BlockTime& block) { return block.scope; });
  column("time_ps", [](const result::BlockTime& block) { return block.time.value; });
  if (times.ops.size() == times.blocks.size())
    column("op_count", [&, i = size_t{0}](const result::BlockTime&) mutable { return times.ops[i++].size(); });
  out += "],\"ops\":[";
  comma = "";
  for (const std::vector<uint32_t>& ops : times.ops) {
    for (const uint32_t op : ops) {
      const fmt::format_int digits(op);
      out.append(std::exchange(comma, ",")).append(digits.data(), digits.size());
    }
  }
  return out + fmt::format("],\"idle_ps\":{}}}", times.idle.value);
}

Result<BlockTimes> BlockTimesOf(const nlohmann::json& member, const std::string& file) {
  const auto bad = [&](const char* what) {
    return MakeError(kBadBlockTimes, fmt::format("`block_times` of `{}`: {}", file, what), {},
                     "make it again with `hespas run PROGRAM --output DIR`");
  };
  if (!member.is_object()) return bad("no object");
  BlockTimes out;
  auto structures = StructuresOf(member);
  if (!structures) return bad("`structures` must be a list of objects with hash, op, kind, shapes and bound");
  out.structures = *std::move(structures);
  auto names = TextsOf(member, "names");
  if (!names) return bad("`names` must be a list of texts");
  out.names = *std::move(names);
  if (auto scopes = TextsOf(member, "scopes")) out.scopes = *std::move(scopes);
  const auto structure = ColumnOf(member, "structure", std::ssize(out.structures));
  const auto name = ColumnOf(member, "name", std::ssize(out.names));
  const auto time = ColumnOf(member, "time_ps", std::numeric_limits<int64_t>::max());
  if (!structure || !name || !time) return bad("a column is missing, or holds a number out of range");
  if (structure->size() != time->size() || name->size() != time->size()) return bad("columns of different lengths");
  const auto scope = ColumnOf(member, "scope", std::ssize(out.scopes));
  const bool scoped = scope && scope->size() == time->size();
  if (!scoped) out.scopes.clear();
  for (size_t i = 0; i < time->size(); ++i) {
    out.blocks.push_back({.structure = static_cast<uint32_t>((*structure)[i]),
                          .name = static_cast<uint32_t>((*name)[i]),
                          .scope = scoped ? static_cast<uint32_t>((*scope)[i]) : 0,
                          .time = Time((*time)[i])});
  }
  if (auto ops = OpsIn(member, time->size())) out.ops = *std::move(ops);
  const auto idle = member.find("idle_ps");
  if (idle == member.end() || !idle->is_number_integer()) return bad("`idle_ps` must be a whole number");
  out.idle = Time(idle->get<int64_t>());
  return out;
}

}  // namespace hespas::report
