#include "hardware/links/rank_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>

#include "base/system/file.h"

namespace hespas::hardware {
namespace {

constexpr std::string_view kRandom = "random:";

template <class Number>
std::optional<Number> ReadNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Fisher and Yates; std::shuffle is another one in every library.
void Shuffle(uint64_t seed, std::vector<uint32_t>& hosts) {
  std::mt19937_64 random(seed);
  for (size_t left = hosts.size(); left > 1; --left) std::swap(hosts[left - 1], hosts[random() % left]);
}

Result<std::vector<uint32_t>> ReadMapping(const std::string& path, uint32_t ranks,
                                          const std::vector<std::string>& hosts) {
  const Result<std::string> text = ReadInput(path);
  if (!text) return text.error();
  std::vector<uint32_t> mapping;
  std::vector<bool> taken(hosts.size());
  std::istringstream lines(*text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line[start] == '#') continue;
    line = line.substr(start, line.find_last_not_of(" \t\r") + 1 - start);
    const auto named = std::find(hosts.begin(), hosts.end(), line);
    const auto host =
        named != hosts.end() ? static_cast<uint32_t>(named - hosts.begin()) : ReadNumber<uint32_t>(line).value_or(~0u);
    if (host >= hosts.size() || taken[host]) {
      const char* why = host >= hosts.size() ? "is no host of the network" : "has a rank already";
      return MakeError(
          kBadMapping, fmt::format("`{}` {}", line, why), {.file = path, .line = number, .column = start + 1},
          fmt::format("hosts are `{}` to `{}`, or 0 to {}", hosts.front(), hosts.back(), hosts.size() - 1));
    }
    taken[host] = true;
    mapping.push_back(host);
  }
  if (mapping.size() == ranks) return mapping;
  return MakeError(kBadMapping, fmt::format("the file names {} hosts for {} ranks", mapping.size(), ranks),
                   {.file = path}, "name one host a line, in the order of the ranks");
}

}  // namespace

Result<std::vector<uint32_t>> MapRanks(const std::string& mapping, uint32_t ranks,
                                       const std::vector<std::string>& hosts) {
  if (hosts.size() < ranks) {
    return MakeError(kBadMapping, fmt::format("the network has {} hosts for {} ranks", hosts.size(), ranks), {},
                     "use a network with as many hosts as ranks, or more");
  }
  std::vector<uint32_t> all(hosts.size());
  std::iota(all.begin(), all.end(), 0u);
  if (mapping.starts_with(kRandom)) {
    const auto seed = ReadNumber<uint64_t>(std::string_view(mapping).substr(kRandom.size()));
    if (!seed) return MakeError(kBadMapping, fmt::format("`{}` has no number as its seed", mapping), {}, "random:7");
    Shuffle(*seed, all);
  } else if (mapping != "linear") {
    return ReadMapping(mapping, ranks, hosts);
  }
  all.resize(ranks);
  return all;
}

}  // namespace hespas::hardware
