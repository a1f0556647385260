#include "driver/pipeline/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "driver/configuration/presets.h"
#include "driver/configuration/ranks.h"
#include "driver/pipeline/output.h"
#include "driver/pipeline/pipeline.h"

namespace hespas::driver {
namespace {

using trace::NodeKind;

struct Part {
  RunOptions options;
  Prepared prepared;
  Estimated estimated;
  trace::TraceGraph traces;     // ranks 0 .. n-1
  std::vector<uint32_t> ranks;  // where these stand among all NPUs
};

std::optional<Part> MakePart(const RunOptions& options, Diagnostics& diagnostics) {
  FreshStages made;
  if (!MakeTraces(options, made, diagnostics)) return std::nullopt;
  return Part{options, *std::move(made.prepared), *std::move(made.estimated), *std::move(made.traces), {}};
}

// Every NPU from 0 on stands in exactly one part.
Status CheckCover(const std::vector<Part>& parts) {
  std::vector<uint32_t> all;
  for (const Part& part : parts) all.insert(all.end(), part.ranks.begin(), part.ranks.end());
  std::sort(all.begin(), all.end());
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] != i)
      return BadPlacement(
          fmt::format("NPU {} {}", std::min(i, all[i]), all[i] > i ? "runs no program" : "runs two programs"));
  }
  return {};
}

// The ends of the channels between parts.
class Channels {
 public:
  explicit Channels(const std::vector<Part>& parts) : parts_(parts) {
    for (size_t p = 0; p < parts.size(); ++p) {
      for (const trace::Program& program : parts[p].traces.programs) {
        for (const trace::Node& node : program.nodes) {
          if (IsOpen(node)) ends_[{node.tag, node.kind == NodeKind::kSend}].insert(p);
        }
      }
    }
  }

  static bool IsOpen(const trace::Node& node) { return trace::IsMessage(node.kind) && node.peer < 0; }

  // The NPU that rank `k` of part `p` talks to.
  Result<uint32_t> Peer(size_t p, uint32_t k, const trace::Node& node) const {
    const auto found = ends_.find({node.tag, node.kind != NodeKind::kSend});
    const bool one = found != ends_.end() && found->second.size() == 1 && !found->second.contains(p);
    if (!one) return NoPartner(p, node, "its partner is in no other program, or in more than one");
    const Part& other = parts_[*found->second.begin()];
    if (other.ranks.size() != parts_[p].ranks.size())
      return NoPartner(p, node, "its two ends run on different numbers of NPUs");
    return other.ranks[k];
  }

 private:
  Error NoPartner(size_t p, const trace::Node& node, std::string_view why) const {
    return MakeError(kNoPartner, fmt::format("`{}` of channel {}: {}", node.name, node.tag, why),
                     {.file = parts_[p].options.program.path});
  }

  const std::vector<Part>& parts_;
  std::map<std::pair<int32_t, bool>, std::set<size_t>> ends_;  // channel and whether it is the sending end -> parts
};

class Merger {
 public:
  explicit Merger(const std::vector<Part>& parts) : parts_(parts), channels_(parts) {}

  Result<trace::TraceGraph> Run() {
    size_t total = 0;
    for (const Part& part : parts_) total += part.ranks.size();
    out_.program_of_rank.assign(total, 0);
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (Status added = Add(p); !added) return added.error();
    }
    return std::move(out_);
  }

 private:
  Status Add(size_t p) {
    const Part& part = parts_[p];
    AddArguments(part, static_cast<uint32_t>(out_.groups.size()));
    const auto first_group = static_cast<uint32_t>(out_.groups.size());
    for (const auto& [id, members] : part.traces.groups) {
      std::vector<uint32_t>& group = out_.groups[first_group + id];
      for (const uint32_t member : members) group.push_back(part.ranks[member]);
    }
    const uint32_t everyone = Everyone(part);
    std::map<uint32_t, uint32_t> known;  // programs without channels are shared
    for (uint32_t k = 0; k < part.ranks.size(); ++k) {
      const uint32_t source = part.traces.program_of_rank[k];
      const auto found = known.find(source);
      if (found != known.end()) {
        out_.program_of_rank[part.ranks[k]] = found->second;
        continue;
      }
      trace::Program program = part.traces.programs[source];
      bool own = false;
      for (trace::Node& node : program.nodes) {
        if (node.per_rank) continue;
        if (node.kind == NodeKind::kCollective) node.group = node.group == 0 ? everyone : first_group + node.group;
        if (node.kind != NodeKind::kSend && node.kind != NodeKind::kReceive) continue;
        if (!Channels::IsOpen(node)) {
          node.peer = static_cast<int32_t>(part.ranks[static_cast<size_t>(node.peer)]);
          continue;
        }
        own = true;
        const auto peer = channels_.Peer(p, k, node);
        if (!peer) return peer.error();
        node.peer = static_cast<int32_t>(*peer);
      }
      const auto index = static_cast<uint32_t>(out_.programs.size());
      out_.programs.push_back(std::move(program));
      out_.program_of_rank[part.ranks[k]] = index;
      if (!own) known[source] = index;
    }
    return {};
  }

  void AddArguments(const Part& part, uint32_t first_group) {
    if (part.traces.arguments.empty()) return;
    out_.arguments.resize(out_.program_of_rank.size());
    for (size_t k = 0; k < part.ranks.size(); ++k) {
      trace::Arguments& own = out_.arguments[part.ranks[k]] = part.traces.arguments[k];
      for (uint32_t& group : own.groups) group += first_group;
      for (int32_t& peer : own.peers) peer = static_cast<int32_t>(part.ranks[static_cast<size_t>(peer)]);
    }
  }

  // The group that means all NPUs of the part; 0 where that is all there are.
  uint32_t Everyone(const Part& part) {
    if (parts_.size() == 1) return 0;
    const auto id = static_cast<uint32_t>(out_.groups.size() + 1);
    out_.groups[id] = part.ranks;
    return id;
  }

  const std::vector<Part>& parts_;
  Channels channels_;
  trace::TraceGraph out_;
};

std::optional<std::vector<Part>> ReadParts(const RunOptions& options, Diagnostics& diagnostics) {
  std::vector<std::string> programs = {options.program.path};
  programs.insert(programs.end(), options.parts.programs.begin(), options.parts.programs.end());
  const auto& placement = options.parts.placement;
  for (const auto& [count, what] :
       {std::pair(placement.size(), "placements"), {options.parts.devices.size(), "devices"}}) {
    if (count == 0 || count == programs.size()) continue;
    diagnostics.Report(BadPlacement(fmt::format("programs: {}, but {}: {}", programs.size(), what, count)));
    return std::nullopt;
  }
  std::vector<Part> parts;
  uint32_t next = 0;
  for (size_t p = 0; p < programs.size(); ++p) {
    RunOptions own = options;
    own.program.path = programs[p];
    own.parts.one_of_several = true;
    if (!options.parts.devices.empty()) own.device.name = options.parts.devices[p];
    std::vector<uint32_t> ranks;
    if (!placement.empty()) {
      auto parsed = ParseRanks(placement[p]);
      if (!parsed) {
        diagnostics.Report(parsed.error());
        return std::nullopt;
      }
      ranks = std::move(*parsed);
      own.system.num_npus = static_cast<uint32_t>(ranks.size());
    }
    auto part = MakePart(own, diagnostics);
    if (!part) return std::nullopt;
    for (uint32_t k = 0; placement.empty() && k < part->traces.program_of_rank.size(); ++k) ranks.push_back(next++);
    part->ranks = std::move(ranks);
    parts.push_back(std::move(*part));
  }
  if (const Status cover = CheckCover(parts); !cover) {
    diagnostics.Report(cover.error());
    return std::nullopt;
  }
  return parts;
}

// One program whose ranks have different devices: each device's traces give the programs of its ranks.
std::optional<trace::TraceGraph> MixDevices(const RunOptions& options, Part& base, std::vector<Part>& others,
                                            std::vector<size_t>& part_of_rank, Diagnostics& diagnostics) {
  trace::TraceGraph mixed = base.traces;
  part_of_rank.assign(mixed.program_of_rank.size(), 0);
  for (const std::string& item : options.parts.rank_devices) {
    const size_t equals = item.find('=');
    auto ranks = ParseRanks(item.substr(0, equals));
    if (!ranks || equals == std::string::npos || ranks->back() >= mixed.program_of_rank.size()) {
      diagnostics.Report(BadPlacement(fmt::format("`{}` is no FIRST-LAST=DEVICE of this run's NPUs", item)));
      return std::nullopt;
    }
    RunOptions own = options;
    own.device.name = item.substr(equals + 1);
    auto part = MakePart(own, diagnostics);
    if (!part) return std::nullopt;
    const auto offset = static_cast<uint32_t>(mixed.programs.size());
    mixed.programs.insert(mixed.programs.end(), part->traces.programs.begin(), part->traces.programs.end());
    for (const uint32_t rank : *ranks) {
      if (part_of_rank[rank] != 0) {
        diagnostics.Report(BadPlacement(fmt::format("NPU {} has two devices", rank)));
        return std::nullopt;
      }
      mixed.program_of_rank[rank] = offset + part->traces.program_of_rank[rank];
      if (!part->traces.arguments.empty()) {
        mixed.arguments.resize(mixed.program_of_rank.size());
        mixed.arguments[rank] = part->traces.arguments[rank];
      }
      part_of_rank[rank] = others.size() + 1;
    }
    others.push_back(std::move(*part));
  }
  return mixed;
}

}  // namespace

std::optional<result::RunResult> RunParts(const RunOptions& options, Diagnostics& diagnostics) {
  auto parts = ReadParts(options, diagnostics);
  if (!parts) return std::nullopt;
  std::vector<size_t> part_of_rank;
  std::optional<trace::TraceGraph> traces;
  if (!options.parts.rank_devices.empty() && parts->size() == 1) {
    std::vector<Part> others;
    traces = MixDevices((*parts)[0].options, (*parts)[0], others, part_of_rank, diagnostics);
    if (!traces) return std::nullopt;
    for (Part& part : others) parts->push_back(std::move(part));
  } else {
    auto merged = Merger(*parts).Run();
    if (!merged) {
      diagnostics.Report(merged.error());
      return std::nullopt;
    }
    traces = std::move(*merged);
    part_of_rank.assign(traces->program_of_rank.size(), 0);
    for (size_t p = 0; p < parts->size(); ++p) {
      for (const uint32_t rank : (*parts)[p].ranks) part_of_rank[rank] = p;
    }
  }
  const bool automatic = options.system.name == kAutoSystem;
  auto system = automatic ? SystemOfDevice((*parts)[0].prepared.device, part_of_rank.size(), diagnostics)
                          : LoadSystemPreset(options.system.name, diagnostics);
  if (!system) return std::nullopt;
  const auto simulated = SimulateStep(options, (*parts)[0].prepared.device, *traces, *system, diagnostics);
  if (!simulated) return std::nullopt;
  size_t slowest = 0;
  for (size_t rank = 0; rank < part_of_rank.size(); ++rank) {
    if (simulated->ranks[rank].finish > simulated->ranks[slowest].finish) slowest = rank;
  }
  const Part& part = (*parts)[part_of_rank[slowest]];
  // Blocks of other parts are not this one's.
  for (size_t rank = 0; rank < part_of_rank.size(); ++rank) {
    if (part_of_rank[rank] == part_of_rank[slowest]) continue;
    for (trace::Node& node : traces->programs[traces->program_of_rank[rank]].nodes) node.block = trace::kNoBlock;
  }
  auto result = Conclude(part.options, part.prepared, part.estimated, *traces, &*system, simulated, diagnostics);
  if (!result) return std::nullopt;
  // Which data of several programs is the step's, no program says.
  if (!options.parts.programs.empty()) result->throughput.reset();
  for (const Part& other : *parts)
    result->reproduce.input_hashes[other.options.program.path] = "sha256:" + other.prepared.sha256;
  AddWarnings(diagnostics, *result);
  if (options.output.folder.empty()) return result;
  if (const Status status = PrepareFolder(options.output.folder, options.output.clean); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  if (const Status status = WriteOutputs(part.prepared, part.estimated, *traces, *result, options); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  return result;
}

}  // namespace hespas::driver
