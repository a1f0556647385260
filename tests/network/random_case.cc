#include "random_case.h"

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

}  // namespace

json SymmetricCase(uint64_t seed) {
  Source random(seed);
  const json net = NetworkOf(random);
  const json sys = SystemOf(random, net["npus"].size());
  json out = {{"be", "U"}, {"net", net}, {"sys", sys}, {"trace", {{"all", ProgramOf(random)}}}};
  if (random.Below(3) == 0) out["flags"] = {"--num-queues-per-dim=" + std::to_string(1 + random.Below(4))};
  return out;
}

}  // namespace hespas::network_test
