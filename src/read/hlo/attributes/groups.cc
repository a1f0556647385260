// Device groups: `{{0,1},{2,3}}`, the iota form `[G,S]<=[dims]T(permutation)` and the mesh form
// `mesh['x'=4,'y'=2] {'x'}`, whose groups run along the axes in braces.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "read/hlo/attributes/attributes.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

// Beyond this many devices the short spelling is kept as it is.
constexpr int64_t kMaximumListedDevices = 1024;

using Groups = std::vector<std::vector<int64_t>>;

struct IotaGroups {
  std::vector<int64_t> shape;  // G, S
  std::vector<int64_t> dims;
  std::vector<int64_t> permutation;
};

int64_t Product(std::span<const int64_t> values) {
  int64_t product = 1;
  for (const int64_t v : values) {
    if (v < 0 || __builtin_mul_overflow(product, v, &product)) return -1;
  }
  return product;
}

std::optional<IotaGroups> ParseIota(std::string_view text) {
  Scanner scan(text);
  IotaGroups out;
  const auto shape = Integers(scan.Balanced());
  if (!shape || scan.peek() != '<' || scan.peek(1) != '=') return std::nullopt;
  scan.Seek(scan.position() + 2);
  const auto dims = Integers(scan.Balanced());
  if (!dims) return std::nullopt;
  out = {*shape, *dims, {}};
  if (scan.peek() == 'T') {
    scan.Seek(scan.position() + 1);
    const auto permutation = Integers(scan.Balanced());
    if (!permutation) return std::nullopt;
    out.permutation = *permutation;
  }
  return scan.at_end() ? std::optional(out) : std::nullopt;
}

// transpose(reshape(iota(N), dims), permutation), flattened (hlo-grammar: "Collectives and async").
std::vector<int64_t> Devices(const IotaGroups& iota) {
  const size_t rank = iota.dims.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * iota.dims[i];
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i < iota.permutation.size(); ++i) order[i] = static_cast<size_t>(iota.permutation[i]);
  std::vector<int64_t> devices = {0};
  for (const size_t dim : order) {
    std::vector<int64_t> next;
    next.reserve(devices.size() * static_cast<size_t>(iota.dims[dim]));
    for (const int64_t base : devices) {
      for (int64_t i = 0; i < iota.dims[dim]; ++i) next.push_back(base + i * strides[dim]);
    }
    devices.swap(next);
  }
  return devices;
}

bool IsPermutation(std::vector<int64_t> permutation, size_t rank) {
  if (permutation.empty()) return true;
  std::sort(permutation.begin(), permutation.end());
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return permutation.size() == rank;
}

// `'name'` or `"name"`; empty where none stands.
std::string_view AxisName(Scanner& scan) {
  scan.SkipBlanks();
  const char quote = scan.peek();
  const size_t begin = scan.position() + 1;
  const size_t end = quote == '\'' || quote == '"' ? scan.rest().find(quote, 1) : std::string_view::npos;
  if (end == std::string_view::npos) return {};
  scan.Seek(begin + end);
  return scan.slice(begin, begin + end - 1);
}

std::optional<int64_t> Number(Scanner& scan) {
  int64_t value = 0;
  const std::string_view rest = scan.rest();
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || value < 1) return std::nullopt;
  scan.Seek(scan.position() + static_cast<size_t>(end - rest.data()));
  return value;
}

// One dimension of the device array: an axis, or a part of one where `'x':(pre)size` names a sub-axis.
struct MeshDimension {
  std::string_view axis;
  int64_t size = 1;
};

std::optional<std::vector<MeshDimension>> MeshAxes(Scanner& scan) {
  std::vector<MeshDimension> axes;
  if (!scan.TakeWord("mesh") || !scan.Take('[')) return std::nullopt;
  while (!scan.Take(']')) {
    if (!axes.empty() && !scan.Take(',')) return std::nullopt;
    const std::string_view name = AxisName(scan);
    if (name.empty() || !scan.Take('=')) return std::nullopt;
    const auto size = Number(scan);
    if (!size) return std::nullopt;
    axes.push_back({name, *size});
  }
  return axes;
}

// Splits the axis at `at` into what stands before the sub-axis, the sub-axis and the rest; false where they do not
// divide.
bool SplitAxis(std::vector<MeshDimension>& axes, size_t at, int64_t before, int64_t size) {
  const MeshDimension whole = axes[at];
  int64_t covered = 0;
  if (__builtin_mul_overflow(before, size, &covered) || whole.size % covered != 0) return false;
  axes[at] = {{}, before};
  axes.insert(axes.begin() + static_cast<ptrdiff_t>(at) + 1, {{whole.axis, size}, {{}, whole.size / covered}});
  return true;
}

std::optional<IotaGroups> ParseMesh(std::string_view text) {
  Scanner scan(text);
  auto axes = MeshAxes(scan);
  if (!axes || !scan.Take('{')) return std::nullopt;
  std::vector<std::string_view> along;
  while (!scan.Take('}')) {
    if (!along.empty() && !scan.Take(',')) return std::nullopt;
    const std::string_view name = AxisName(scan);
    const auto axis = std::find_if(axes->begin(), axes->end(), [&](const auto& a) { return a.axis == name; });
    if (name.empty() || axis == axes->end()) return std::nullopt;
    along.push_back(name);
    if (!scan.Take(':')) continue;
    if (!scan.Take('(')) return std::nullopt;
    const auto before = Number(scan);
    if (!before || !scan.Take(')')) return std::nullopt;
    const auto size = Number(scan);
    if (!size || !SplitAxis(*axes, static_cast<size_t>(axis - axes->begin()), *before, *size)) return std::nullopt;
  }
  if (!scan.at_end()) return std::nullopt;
  IotaGroups out;
  int64_t members = 1;
  for (const MeshDimension& d : *axes) {
    if (std::find(along.begin(), along.end(), d.axis) == along.end()) {
      out.permutation.push_back(static_cast<int64_t>(out.dims.size()));
    }
    out.dims.push_back(d.size);
  }
  for (const std::string_view name : along) {
    const auto axis = std::find_if(axes->begin(), axes->end(), [&](const auto& a) { return a.axis == name; });
    out.permutation.push_back(axis - axes->begin());
    if (__builtin_mul_overflow(members, axis->size, &members)) return std::nullopt;
  }
  const int64_t devices = Product(out.dims);
  if (devices < 1 || devices % members != 0) return std::nullopt;
  out.shape = {devices / members, members};
  return out;
}

std::string IotaText(const IotaGroups& iota) {
  return fmt::format("[{}]<=[{}]T({})", fmt::join(iota.shape, ","), fmt::join(iota.dims, ","),
                     fmt::join(iota.permutation, ","));
}

std::optional<Groups> Expand(const std::optional<IotaGroups>& iota) {
  if (!iota || iota->shape.empty() || !IsPermutation(iota->permutation, iota->dims.size())) return std::nullopt;
  const int64_t count = Product(iota->dims);
  if (count < 1 || count > kMaximumListedDevices || Product(iota->shape) != count) return std::nullopt;
  const std::vector<int64_t> devices = Devices(*iota);
  const int64_t size = iota->shape.back();
  Groups groups;
  for (int64_t at = 0; at < count; at += size) {
    groups.emplace_back(devices.begin() + at, devices.begin() + at + size);
  }
  return groups;
}

std::optional<Groups> ParseLists(std::string_view text) {
  Scanner scan(text);
  Groups groups;
  if (!scan.Take('{')) return std::nullopt;
  while (!scan.Take('}')) {
    if (!groups.empty() && !scan.Take(',')) return std::nullopt;
    scan.SkipBlanks();
    if (scan.peek() != '{') return std::nullopt;
    const auto group = Integers(scan.Balanced());
    if (!group) return std::nullopt;
    groups.push_back(*group);
  }
  return groups;
}

std::string DenseText(const Groups& groups) {
  size_t widest = 0;
  for (const auto& group : groups) widest = std::max(widest, group.size());
  if (widest == 0) return "dense<> : tensor<0x0xi64>";
  std::string rows;
  for (const auto& group : groups) {
    rows += rows.empty() ? "[" : ", [";
    for (size_t i = 0; i < widest; ++i) {
      // Shorter groups are filled up with -1, as StableHLO has it.
      rows += fmt::format("{}{}", i == 0 ? "" : ", ", i < group.size() ? group[i] : -1);
    }
    rows += "]";
  }
  return fmt::format("dense<[{}]> : tensor<{}x{}xi64>", rows, groups.size(), widest);
}

}  // namespace

std::string GroupsText(std::string_view text) {
  if (text.starts_with('{')) {
    const auto groups = ParseLists(text);
    return groups ? DenseText(*groups) : "";
  }
  const bool is_mesh = text.starts_with("mesh");
  const auto iota = is_mesh ? ParseMesh(text) : ParseIota(text);
  const auto groups = Expand(iota);
  if (groups) return DenseText(*groups);
  return iota && is_mesh ? IotaText(*iota) : std::string(text);
}

int64_t GroupSize(std::string_view text) {
  if (!text.starts_with('{')) {
    const auto iota = text.starts_with("mesh") ? ParseMesh(text) : ParseIota(text);
    return iota && !iota->shape.empty() ? iota->shape.back() : 0;
  }
  const auto groups = ParseLists(text);
  return groups && !groups->empty() ? static_cast<int64_t>(groups->front().size()) : 0;
}

}  // namespace hespas::read::hlo
