// The launches in IREE's HAL dialect, as `iree-compile --compile-to=hal` prints it.
#include <algorithm>
#include <charconv>
#include <map>

#include "estimate/ptx/iree_compiler.h"

namespace hespas::estimate::ptx {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

std::string_view Between(std::string_view text, std::string_view open, char close) {
  const size_t at = text.find(open);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + open.size());
  return rest.substr(0, rest.find(close));
}

class HalReader {
 public:
  std::vector<Dispatch> Read(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      ReadLine(text.substr(at, end - at));
      at = end + 1;
    }
    return std::move(dispatches_);
  }

 private:
  void ReadLine(std::string_view line) {
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos || line.size() > kLongestLine) return;
    line.remove_prefix(first);
    if (in_bindings_) return ReadBinding(line);
    if (line.starts_with("hal.command_buffer.dispatch<")) return AddDispatch(line);
    if (line.starts_with("hal.command_buffer.fill_buffer<"))
      return AddTransfer("fill_buffer", Last(Between(line, ")[", ']')), 1);
    if (line.starts_with("hal.command_buffer.copy_buffer<"))
      return AddTransfer("copy_buffer", Between(line, "length(", ')'), 2);
    const size_t equals = line.find(" = ");
    if (!line.starts_with('%') || equals == std::string_view::npos) return;
    const std::string_view name = line.substr(0, equals), value = line.substr(equals + 3);
    if (value.starts_with("arith.constant ")) Define(name, Between(value, "arith.constant ", ' '));
    if (value.starts_with("hal.executable.lookup.function ")) Define(name, Between(value, "function(", ')'));
  }

  void Define(std::string_view name, std::string_view value) { values_[std::string(name)] = std::string(value); }

  int64_t Number(std::string_view name) const {
    const auto found = values_.find(name);
    const std::string_view text = found == values_.end() ? std::string_view() : found->second;
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  template <class Use>
  void Each(std::string_view list, const Use& use) const {
    for (size_t at = 0; at < list.size();) {
      const size_t end = std::min(list.find(", ", at), list.size());
      use(Number(list.substr(at, end - at)));
      at = end + 2;
    }
  }

  static std::string_view Last(std::string_view list) {
    const size_t comma = list.rfind(", ");
    return comma == std::string_view::npos ? list : list.substr(comma + 2);
  }

  void AddDispatch(std::string_view line) {
    Dispatch dispatch;
    const auto function = values_.find(Between(line, ")[", ']'));
    if (function != values_.end()) dispatch.kernel = function->second.substr(function->second.rfind('@') + 1);
    size_t axis = 0;
    Each(Between(line, "workgroups([", ']'), [&](int64_t n) {
      if (axis < 3) dispatch.launch.grid[axis++] = std::max<int64_t>(n, 1);
    });
    Each(Between(line, "constants([", ']'),
         [&](int64_t n) { dispatch.launch.constants.push_back(static_cast<uint64_t>(n)); });
    dispatches_.push_back(std::move(dispatch));
    in_bindings_ = line.ends_with("bindings([");
  }

  // "(%c0 : index)[%c0, %c1048576], "
  void ReadBinding(std::string_view line) {
    if (line.starts_with("])")) {
      in_bindings_ = false;
    } else {
      dispatches_.back().bytes += static_cast<double>(Number(Last(Between(line, ")[", ']'))));
    }
  }

  void AddTransfer(std::string_view name, std::string_view length, double times) {
    dispatches_.push_back({.kernel = std::string(name), .bytes = times * static_cast<double>(Number(length))});
  }

  static constexpr size_t kLongestLine = 1 << 16;  // executables stand in single long lines

  Names values_;
  std::vector<Dispatch> dispatches_;
  bool in_bindings_ = false;
};

}  // namespace

std::vector<Dispatch> ReadDispatches(std::string_view hal) { return HalReader().Read(hal); }

}  // namespace hespas::estimate::ptx
