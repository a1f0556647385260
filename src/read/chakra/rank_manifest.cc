#include "read/chakra/rank_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/json_text.h"

namespace hespas::read::chakra {
namespace {

using nlohmann::json;

constexpr uint32_t kMostRanks = 1u << 28;

class Reader {
 public:
  Reader(const std::string& path, uint32_t wanted)
      : folder_(std::filesystem::path(path).parent_path()), wanted_(wanted) {}

  // Empty if it is well, otherwise what is wrong.
  std::string Read(const json& root) {
    if (!root.is_object() || !root.contains("classes") || !root["classes"].is_array()) return "`classes` is no list";
    if (root.value("schema_version", json()) != 1) return "`schema_version` is not 1";
    const auto npus = Number(root.value("npus", json()), 1, kMostRanks);
    if (!npus) return "`npus` is no number of NPUs";
    if (*npus < wanted_) return fmt::format("it lists {} NPUs, but the network has {}", *npus, wanted_);
    seen_.assign(*npus, false);
    for (const json& entry : root["classes"]) {
      if (std::string why = ReadClass(entry); !why.empty()) return why;
    }
    const auto missing = std::find(seen_.begin(), seen_.end(), false);
    if (missing != seen_.end()) return fmt::format("NPU {} stands in no class", missing - seen_.begin());
    return {};
  }
  std::vector<RankClass> Take() { return std::move(classes_); }

 private:
  static std::optional<uint32_t> Number(const json& value, int64_t least, int64_t most) {
    if (!value.is_number_integer() || value < least || value > most) return std::nullopt;
    return value.get<uint32_t>();
  }

  std::string ReadClass(const json& entry) {
    if (!entry.is_object() || !entry.value("file", json()).is_string()) return "a class names no `file`";
    RankClass& out = classes_.emplace_back();
    out.file = (folder_ / entry["file"].get<std::string>()).string();
    const json ranks = entry.value("ranks", json());
    if (!ranks.is_array() || ranks.empty()) return fmt::format("the class of `{}` has no `ranks`", out.file);
    for (const json& value : ranks) {
      const auto rank = Number(value, 0, static_cast<int64_t>(seen_.size()) - 1);
      if (!rank) return fmt::format("`{}` is no NPU", JsonText(value).substr(0, 50));
      if (seen_[*rank]) return fmt::format("NPU {} stands in two classes, or twice in one", *rank);
      if (!out.ranks.empty() && *rank < out.ranks.back()) return "`ranks` are not in ascending order";
      seen_[*rank] = true;
      out.ranks.push_back(*rank);
    }
    out.renaming.resize(out.ranks.size());
    if (std::string why = ReadNumbers(entry, "groups", 1, &trace::Renaming::groups, out); !why.empty()) return why;
    return ReadNumbers(entry, "peers", 0, &trace::Renaming::peers, out);
  }

  // For each number in the file, those of the ranks.
  template <class Names>
  static std::string ReadNumbers(const json& entry, const char* key, int64_t least, Names trace::Renaming::*names,
                                 RankClass& out) {
    if (!entry.contains(key)) return {};
    if (!entry[key].is_object()) return fmt::format("`{}` is no object", key);
    for (const auto& [text, numbers] : entry[key].items()) {
      typename Names::key_type name = 0;
      const char* end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, name);
      if (parsed.ec != std::errc() || parsed.ptr != end) return fmt::format("`{}` is no number", text.substr(0, 50));
      if (!numbers.is_array() || numbers.size() != out.ranks.size()) {
        return fmt::format("`{}` has not one number of {} for each of `ranks`", key, text);
      }
      for (size_t i = 0; i < numbers.size(); ++i) {
        const auto number = Number(numbers[i], least, std::numeric_limits<int32_t>::max());
        if (!number) return fmt::format("`{}` is no number of `{}`", JsonText(numbers[i]).substr(0, 50), key);
        (out.renaming[i].*names)[name] = static_cast<typename Names::mapped_type>(*number);
      }
    }
    return {};
  }

  std::filesystem::path folder_;
  uint32_t wanted_;
  std::vector<bool> seen_;
  std::vector<RankClass> classes_;
};

}  // namespace

Result<std::vector<RankClass>> ReadManifest(const std::string& path, uint32_t ranks) {
  const Result<std::string> text = ReadInput(path);
  if (!text) return text.error();
  const Result<json> root = ParseJson(*text, path);
  if (!root) return root.error();
  Reader reader(path, ranks);
  if (std::string why = reader.Read(*root); !why.empty()) {
    return MakeError(kBadManifest, std::move(why), {.file = path},
                     "write the traces again, or with --expand for one file per NPU");
  }
  return reader.Take();
}

}  // namespace hespas::read::chakra
