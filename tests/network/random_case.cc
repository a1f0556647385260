#include "random_case.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace hespas::network_test {

using nlohmann::json;

namespace {

class Source {
 public:
  explicit Source(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t n) { return engine_() % n; }
  template <class T>
  T Of(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

json NetworkOf(Source& random) {
  json net = {{"topo", json::array()}, {"npus", json::array()}, {"bw", json::array()}, {"lat", json::array()}};
  const uint64_t dimensions = 1 + random.Below(3);
  for (uint64_t d = 0; d < dimensions; ++d) {
    net["topo"].push_back(random.Of<std::string>({"Ring", "FullyConnected", "Switch"}));
    net["npus"].push_back(
        random.Of<int>(dimensions == 1 ? std::vector<int>{2, 3, 4, 5, 8, 16} : std::vector<int>{2, 3, 4, 8}));
    net["bw"].push_back(random.Of<double>({12.5, 25, 50, 100, 450}));
    net["lat"].push_back(random.Of<double>({1, 7.5, 10, 490, 500, 2345.6}));
  }
  return net;
}

json SystemOf(Source& random, size_t dimensions) {
  json sys = {{"scheduling-policy", random.Of<std::string>({"LIFO", "FIFO"})},
              {"collective-optimization", random.Of<std::string>({"baseline", "localBWAware"})},
              {"endpoint-delay", random.Of<int>({1, 5, 10, 100, 1000})},
              {"active-chunks-per-dimension", random.Of<int>({1, 1, 2, 4})},
              {"preferred-dataset-splits", random.Of<int>({1, 1, 2, 4})},
              {"local-mem-bw", random.Of<double>({11.1, 50, 1600})}};
  for (const char* key : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    json list = json::array();
    for (size_t d = 0; d < dimensions; ++d) {
      const bool all_to_all = std::string(key) == "all-to-all";
      std::vector<std::string> names = {"ring", "ring", "direct", "direct", "direct2"};
      if (!all_to_all) names.insert(names.end(), {"halvingDoubling", "halvingDoubling"});
      list.push_back(random.Of<std::string>(names));
    }
    sys[std::string(key) + "-implementation"] = list;
  }
  return sys;
}

// Groups that hold each NPU once: runs of neighbours, or every so many-th NPU, in either direction.
json GroupsOf(Source& random, uint64_t npus, uint64_t first_id) {
  std::vector<uint64_t> sizes;
  for (uint64_t size = 2; size <= npus; ++size) {
    if (npus % size == 0) sizes.push_back(size);
  }
  const uint64_t size = random.Of(sizes);
  const uint64_t count = npus / size;
  const bool strided = random.Below(2) == 0;
  const bool reversed = random.Below(4) == 0;
  json groups = json::object();
  for (uint64_t g = 0; g < count; ++g) {
    json members = json::array();
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t at = reversed ? size - 1 - i : i;
      members.push_back(strided ? g + at * count : g * size + at);
    }
    groups[std::to_string(first_id + g)] = members;
  }
  return groups;
}

std::string GroupWith(const json& groups, uint64_t npu) {
  for (const auto& [id, members] : groups.items()) {
    if (std::find(members.begin(), members.end(), npu) != members.end()) return id;
  }
  return "";
}

json ProgramOf(Source& random) {
  json nodes = json::array();
  const uint64_t count = 1 + random.Below(12);
  for (uint64_t id = 0; id < count; ++id) {
    json node = {{"id", id}};
    if (random.Below(2) == 0) {
      node.update({{"t", "comp"}, {"us", random.Of<int>({0, 1, 2, 5, 20, 100})}});
    } else {
      node.update({{"t", "coll"},
                   {"k", random.Of<std::string>({"AR", "AG", "RS", "A2A"})},
                   {"sz", 64 + random.Below(1 << 20)}});
    }
    json parents = json::array();
    for (uint64_t parent = 0; parent < id; ++parent) {
      if (random.Below(4) == 0) parents.push_back(parent);
    }
    node["d"] = parents;
    nodes.push_back(node);
  }
  return nodes;
}

// Where the NPUs of a pipeline stand: NPU `at(stage, place)`.
struct Stages {
  uint64_t count = 0;
  uint64_t width = 0;
  bool contiguous = true;
  uint64_t at(uint64_t stage, uint64_t place) const {
    return contiguous ? stage * width + place : place * count + stage;
  }
};

// Groups 1..: the stages; then those of equal places.
json GroupsOf(const Stages& stages) {
  json groups = json::object();
  for (uint64_t stage = 0; stage < stages.count; ++stage) {
    for (uint64_t place = 0; place < stages.width; ++place) {
      groups[std::to_string(1 + stage)].push_back(stages.at(stage, place));
      groups[std::to_string(1 + stages.count + place)].push_back(stages.at(stage, place));
    }
  }
  return groups;
}

// One step that all stages take; `programs` by NPU.
void AddStep(Source& random, const Stages& stages, std::vector<json>& programs) {
  const auto add = [&](uint64_t npu, json node, bool waits) {
    json& program = programs[npu];
    node["id"] = program.size();
    node["d"] = json::array();
    if (waits && !program.empty()) node["d"].push_back(program.size() - 1);
    program.push_back(std::move(node));
  };
  const uint64_t kind = random.Below(6);
  const bool waits = random.Below(4) != 0;
  const uint64_t size = 64 + random.Below(1 << 20);
  const json collective = {{"t", "coll"}, {"k", random.Of<std::string>({"AR", "AG", "RS", "A2A"})}, {"sz", size}};
  for (uint64_t stage = 0; stage < stages.count; ++stage) {
    const int us = random.Of<int>({0, 1, 2, 5, 20, 100});
    for (uint64_t place = 0; place < stages.width; ++place) {
      const uint64_t npu = stages.at(stage, place);
      json node = collective;
      if (kind < 2) node = {{"t", "comp"}, {"us", us}};
      if (kind == 2) node["pg"] = std::to_string(1 + stage);
      if (kind == 3) node["pg"] = std::to_string(1 + stages.count + place);
      if (kind != 4) {
        add(npu, node, waits);
        continue;
      }
      const json message = {{"sz", size}};
      if (stage > 0) {
        json receive = message;
        receive.update({{"t", "recv"}, {"fr", stages.at(stage - 1, place)}, {"tag", size % 100 + stage}});
        add(npu, receive, waits);
      }
      if (stage + 1 < stages.count) {
        json send = message;
        send.update({{"t", "send"}, {"to", stages.at(stage + 1, place)}, {"tag", size % 100 + stage + 1}});
        add(npu, send, waits);
      }
    }
  }
}

}  // namespace

json PipelineCase(uint64_t seed) {
  json out = SymmetricCase(seed);
  Source random(seed ^ 0x57a6e);
  uint64_t npus = 1;
  for (const uint64_t size : out["net"]["npus"]) npus *= size;
  std::vector<uint64_t> counts;
  for (uint64_t count = 2; count * 2 <= npus; ++count) {
    if (npus % count == 0) counts.push_back(count);
  }
  if (counts.empty()) return out;
  if (random.Below(2) == 0) {  // classes of NPUs meet in rings alone
    for (const char* key : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
      for (json& name : out["sys"][std::string(key) + "-implementation"]) name = "ring";
    }
  }
  Stages stages{.count = random.Of(counts), .contiguous = random.Below(2) == 0};
  stages.width = npus / stages.count;
  out["groups"] = GroupsOf(stages);
  std::vector<json> programs(npus, json::array());
  const uint64_t steps = 1 + random.Below(10);
  for (uint64_t step = 0; step < steps; ++step) AddStep(random, stages, programs);
  out["trace"] = {{"ranks", programs}};
  return out;
}

json SymmetricCase(uint64_t seed) {
  Source random(seed);
  const json net = NetworkOf(random);
  const json sys = SystemOf(random, net["npus"].size());
  json out = {{"be", "U"}, {"net", net}, {"sys", sys}, {"trace", {{"all", ProgramOf(random)}}}};
  if (random.Below(3) == 0) out["flags"] = {"--num-queues-per-dim=" + std::to_string(1 + random.Below(4))};
  return out;
}

json GroupCase(uint64_t seed) {
  json out = SymmetricCase(seed);
  Source random(seed ^ 0x5eed);
  uint64_t npus = 1;
  for (const uint64_t size : out["net"]["npus"]) npus *= size;
  const json families[] = {GroupsOf(random, npus, 1), GroupsOf(random, npus, 1 + npus)};
  for (const json& family : families) out["groups"].update(family);
  std::vector<uint64_t> family_of;  // 2: none
  const json nodes = out["trace"]["all"];
  for (size_t i = 0; i < nodes.size(); ++i) family_of.push_back(random.Below(3));
  json ranks = json::array();
  for (uint64_t npu = 0; npu < npus; ++npu) {
    json program = nodes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]["t"] == "coll" && family_of[i] < 2) program[i]["pg"] = GroupWith(families[family_of[i]], npu);
    }
    ranks.push_back(program);
  }
  out["trace"] = {{"ranks", ranks}};
  return out;
}

}  // namespace hespas::network_test
