#include "case_file.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <sstream>

#include "base/system/file.h"
#include "trace/rank_classes.h"

namespace hespas::network_test {

using nlohmann::json;
using trace::Collective;
using trace::Node;
using trace::NodeKind;

namespace {

NodeKind KindOf(const std::string& type) {
  static const std::map<std::string, NodeKind> kKinds = {
      {"inv", NodeKind::kInvalid},       {"meta", NodeKind::kMetadata},  {"load", NodeKind::kMemoryLoad},
      {"store", NodeKind::kMemoryStore}, {"comp", NodeKind::kCompute},   {"send", NodeKind::kSend},
      {"recv", NodeKind::kReceive},      {"coll", NodeKind::kCollective}};
  return kKinds.at(type);
}

Collective CollectiveOf(const std::string& kind) {
  static const std::map<std::string, Collective> kKinds = {
      {"AR", Collective::kAllReduce},   {"REDUCE", Collective::kReduce},    {"AG", Collective::kAllGather},
      {"GATHER", Collective::kGather},  {"SCATTER", Collective::kScatter},  {"BCAST", Collective::kBroadcast},
      {"A2A", Collective::kAllToAll},   {"RS", Collective::kReduceScatter}, {"RSB", Collective::kReduceScatterBlock},
      {"BARRIER", Collective::kBarrier}};
  return kKinds.at(kind);
}

Node NodeFrom(const json& in, trace::NodeDetails& details) {
  Node node;
  node.id = in.at("id");
  node.kind = KindOf(in.at("t"));
  node.is_cpu = in.contains("cpu") && in["cpu"].is_boolean() && in["cpu"].get<bool>();
  node.duration = Time(in.value("us", int64_t{0}) * 1'000'000);
  node.size = Bytes(in.value("sz", int64_t{0}));
  if (in.contains("k")) node.collective = CollectiveOf(in["k"]);
  if (in.contains("pg") && !in["pg"].get<std::string>().empty()) {
    node.group = static_cast<uint32_t>(std::stoul(in["pg"].get<std::string>()));
  }
  if (in.contains("dims")) {
    details.involved_dimensions = 0;
    for (size_t d = 0; d < in["dims"].size(); ++d)
      details.involved_dimensions |= (in["dims"][d].get<bool>() ? 1u : 0u) << d;
  }
  details.priority = in.value("pr", 0u);
  node.peer = in.value(node.kind == NodeKind::kSend ? "to" : "fr", -1);
  node.tag = in.value("tag", 0);
  details.operations = in.value("ops", int64_t{0});
  details.tensor_size = Bytes(in.value("ts", int64_t{0}));
  return node;
}

trace::Program ProgramFrom(const json& nodes) {
  trace::Program program;
  for (const json& in : nodes) {
    trace::NodeDetails details;
    Node node = NodeFrom(in, details);
    node.first_dependency = static_cast<uint32_t>(program.dependencies.size());
    for (const char* key : {"d", "c"}) {
      if (!in.contains(key)) continue;
      for (const json& id : in[key]) program.dependencies.push_back(id);
    }
    node.dependency_count = static_cast<uint32_t>(program.dependencies.size()) - node.first_dependency;
    if (in.contains("c")) node.control_dependency_count = static_cast<uint32_t>(in["c"].size());
    program.SetDetails(program.nodes.size(), details);
    program.nodes.push_back(node);
  }
  return program;
}

std::optional<std::string> Flag(const json& input, const std::string& name) {
  if (!input.contains("flags")) return std::nullopt;
  for (const std::string flag : input["flags"]) {
    if (flag.starts_with("--" + name + "=")) return flag.substr(name.size() + 3);
  }
  return std::nullopt;
}

void ReadPerNode(const json& input, hardware::System& system) {
  const json& sys = input.at("sys");
  if (!sys.contains("per-node-custom-implementation")) return;
  std::istringstream text(
      input.at("txt_files").at(sys["per-node-custom-implementation"].get<std::string>()).get<std::string>());
  for (std::string line; std::getline(text, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string prefix = line.substr(colon + 1);
    prefix.erase(0, prefix.find_first_not_of(' '));
    system.custom_of_node[std::stoull(line)] = prefix;
  }
}

void ReadCollectives(const json& input, trace::TraceGraph& trace) {
  if (!input.contains("et_files")) return;
  for (const auto& [name, nodes] : input["et_files"].items()) {
    const std::string stem = name.substr(0, name.rfind('.'));
    const size_t dot = stem.rfind('.');
    trace.collectives[stem.substr(0, dot)].ranks[static_cast<uint32_t>(std::stoul(stem.substr(dot + 1)))] =
        ProgramFrom(nodes);
  }
}

json Compact(const std::vector<std::optional<uint64_t>>& values) {
  if (std::all_of(values.begin(), values.end(), [&](const auto& v) { return v == values[0]; })) {
    return values[0] ? json(*values[0]) : json();
  }
  json out = json::array();
  for (const auto& value : values) out.push_back(value ? json(*value) : json());
  return out;
}

}  // namespace

Result<Case> BuildCase(const json& input) {
  Case out;
  const json& net = input.at("net");
  json system = input.at("sys");
  system.erase("per-node-custom-implementation");  // its file is inside the case
  const json whole = {{"network",
                       {{"topology", net.at("topo")},
                        {"npus_count", net.at("npus")},
                        {"bandwidth", net.at("bw")},
                        {"latency", net.at("lat")}}},
                      {"system", system},
                      {"remote_memory", input.value("mem", json{{"memory-type", "NO_MEMORY_EXPANSION"}})}};
  Diagnostics diagnostics;
  Result<hardware::System> parsed = hardware::ParseSystem(whole.dump(), "case", {.strict = true}, diagnostics);
  if (!parsed) return parsed.error();
  out.system = *std::move(parsed);
  ReadPerNode(input, out.system);
  const json& traces = input.at("trace");
  trace::RankClasses ranks;
  if (traces.contains("all")) {
    ranks.Add(ProgramFrom(traces["all"]));
    for (uint64_t rank = 1; rank < out.system.npus(); ++rank) ranks.AddLike(0);
  } else {
    for (const json& nodes : traces["ranks"]) ranks.Add(ProgramFrom(nodes));
  }
  out.trace = ranks.Take();
  if (input.contains("groups")) {
    for (const auto& [id, members] : input["groups"].items()) {
      out.trace.groups[static_cast<uint32_t>(std::stoul(id))] = members.get<std::vector<uint32_t>>();
    }
  }
  ReadCollectives(input, out.trace);
  out.options.backend = input.at("be") == "A" ? simulate::Backend::kAware : simulate::Backend::kUnaware;
  out.options.queues_per_dimension = static_cast<uint32_t>(std::stoul(Flag(input, "num-queues-per-dim").value_or("1")));
  out.options.injection_scale = std::stod(Flag(input, "injection-scale").value_or("1"));
  out.options.rendezvous = Flag(input, "rendezvous-protocol") == "true";
  return out;
}

std::vector<Golden> ReadGoldens(const std::string& folder) {
  std::vector<Golden> goldens;
  const Result<std::string> text = ReadInput(folder + "/golden.jsonl.gz");
  if (!text) return goldens;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    goldens.push_back({row["id"], row["kind"], std::move(row["in"]), std::move(row["out"])});
  }
  return goldens;
}

json Answer(const result::SimResult& result) {
  using result::RankResult;
  json out = json::object();
  const auto add = [&](const char* key, auto value_of) {
    std::vector<std::optional<uint64_t>> values;
    for (const RankResult& rank : result.ranks) values.push_back(value_of(rank));
    if (json compact = Compact(values); !compact.is_null()) out[key] = compact;
  };
  add("fin", [](const RankResult& rank) { return std::optional(rank.finish); });
  add("exposed", [](const RankResult& rank) { return std::optional(rank.exposed); });
  add("wall", [](const RankResult& rank) { return rank.wall; });
  add("gpu", [](const RankResult& rank) { return rank.gpu; });
  add("comm", [](const RankResult& rank) { return rank.comm; });
  add("overlap", [](const RankResult& rank) { return rank.overlap; });
  std::vector<uint32_t> ascending(result.ranks.size());
  std::iota(ascending.begin(), ascending.end(), 0u);
  if (result.order != ascending) out["order"] = result.order;
  return out;
}

json OneCollective(const std::string& kind, uint64_t size, const std::string& algorithm, const std::string& topology,
                   int npus) {
  json sys = {
      {"scheduling-policy", "LIFO"}, {"endpoint-delay", 10}, {"preferred-dataset-splits", 1}, {"local-mem-bw", 1600}};
  for (const char* key : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    sys[std::string(key) + "-implementation"] = {algorithm};
  }
  return {{"be", "U"},
          {"net", {{"topo", {topology}}, {"npus", {npus}}, {"bw", {50.0}}, {"lat", {500.0}}}},
          {"sys", sys},
          {"trace", {{"all", {{{"id", 0}, {"t", "coll"}, {"k", kind}, {"sz", size}}}}}}};
}

}  // namespace hespas::network_test
