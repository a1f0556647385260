#include "estimate/calibrated/parameters.h"

#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "hardware/model_file.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr std::string_view kFamilyNames[kFamilies] = {"gemm",        "linear", "bmm",   "convolution",
                                                      "elementwise", "rows",   "other", "collective"};

template <class Constants>
struct Constant {
  const char* name;
  double Constants::*value;
};

constexpr Constant<GemmConstants> kGemm[] = {
    {"launch_us", &GemmConstants::launch_us},
    {"sustained_fraction", &GemmConstants::sustained_fraction},
    {"sm_fraction", &GemmConstants::sm_fraction},
    {"tile_half", &GemmConstants::tile_half},
    {"l2_bytes_per_clock", &GemmConstants::l2_bytes_per_clock},
    {"store_ratio", &GemmConstants::store_ratio},
    {"memory_fraction", &GemmConstants::memory_fraction},
    {"split_limit", &GemmConstants::split_limit},
};
constexpr Constant<LaneConstants> kLinear[] = {
    {"launch_us", &LaneConstants::launch_us},
    {"sustained_fraction", &LaneConstants::sustained_fraction},
    {"tile_half", &LaneConstants::tile_half},
    {"l2_bytes_per_clock", &LaneConstants::l2_bytes_per_clock},
    {"memory_fraction", &LaneConstants::memory_fraction},
    {"board_watts", &LaneConstants::board_watts},
    {"pj_per_flop", &LaneConstants::pj_per_flop},
    {"long_contraction", &LaneConstants::long_contraction},
    {"long_extent", &LaneConstants::long_extent},
};
constexpr Constant<LaneConstants> kBatched[] = {
    {"launch_us", &LaneConstants::launch_us},
    {"sustained_fraction", &LaneConstants::sustained_fraction},
    {"tile_half", &LaneConstants::tile_half},
    {"l2_bytes_per_clock", &LaneConstants::l2_bytes_per_clock},
    {"memory_fraction", &LaneConstants::memory_fraction},
    {"board_watts", &LaneConstants::board_watts},
    {"pj_per_flop", &LaneConstants::pj_per_flop},
    {"smallest_tile", &LaneConstants::smallest_tile},
};
constexpr Constant<MemoryConstants> kMemory[] = {
    {"launch_us", &MemoryConstants::launch_us},
    {"hbm_bytes_per_clock", &MemoryConstants::hbm_bytes_per_clock},
    {"gddr_fraction", &MemoryConstants::gddr_fraction},
    {"l2_bytes_per_clock", &MemoryConstants::l2_bytes_per_clock},
    {"issue_fraction", &MemoryConstants::issue_fraction},
    {"streamed_fraction", &MemoryConstants::streamed_fraction},
};
constexpr Constant<RowConstants> kRows[] = {
    {"softmax_start", &RowConstants::softmax_start},
    {"softmax_full", &RowConstants::softmax_full},
    {"softmax_reread", &RowConstants::softmax_reread},
    {"softmax_block", &RowConstants::softmax_block},
    {"softmax_scalar", &RowConstants::softmax_scalar},
    {"norm_start", &RowConstants::norm_start},
    {"norm_full", &RowConstants::norm_full},
    {"norm_reread", &RowConstants::norm_reread},
    {"norm_step_clocks", &RowConstants::norm_step_clocks},
};
constexpr Constant<ConvolutionConstants> kConvolution[] = {
    {"sustained_fraction", &ConvolutionConstants::sustained_fraction},
    {"winograd_fraction", &ConvolutionConstants::winograd_fraction},
    {"transform_passes", &ConvolutionConstants::transform_passes},
    {"dispatches", &ConvolutionConstants::dispatches},
};
constexpr Constant<DispatchConstants> kDispatch[] = {
    {"matmul_power", &DispatchConstants::matmul_power},
    {"memory_power", &DispatchConstants::memory_power},
};
constexpr Constant<StreamConstants> kStream[] = {
    {"launch_us", &StreamConstants::launch_us},
    {"graph_clocks", &StreamConstants::graph_clocks},
};
constexpr Constant<CollectiveConstants> kCollective[] = {
    {"launch_us", &CollectiveConstants::launch_us},         {"hop_us", &CollectiveConstants::hop_us},
    {"link_fraction", &CollectiveConstants::link_fraction}, {"ramp", &CollectiveConstants::ramp},
    {"own_share", &CollectiveConstants::own_share},
};
constexpr const char* kCollectiveKeys[kCollectiveOps] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                                         "collective-permute"};

template <class Constants, size_t kCount>
double* FindIn(Constants& constants, const Constant<Constants> (&table)[kCount], std::string_view name) {
  for (const Constant<Constants>& entry : table) {
    if (entry.name == name) return &(constants.*entry.value);
  }
  return nullptr;
}

// Walks families/NAME/constants and reports what is missing at its place in the file.
class Reader {
 public:
  Reader(JsonObject& families, Diagnostics& diagnostics) : families_(families), diagnostics_(diagnostics) {}

  template <class Constants, size_t kCount>
  Constants Family(const std::string& name, const Constant<Constants> (&table)[kCount]) {
    Constants constants;
    auto family = families_.Object(name);
    auto values = family ? family->Object("constants") : std::nullopt;
    for (const Constant<Constants>& entry : table) constants.*entry.value = Value(values, name, entry.name);
    return constants;
  }

  double Value(std::optional<JsonObject>& values, const std::string& family, const std::string& name) {
    auto entry = values ? values->Object(name) : std::nullopt;
    if (values && !entry && name == "matmul_power") entry = values->Object("product_power");  // its old name
    const auto value = entry ? entry->Quantity("value", Unit::kNumber) : std::nullopt;
    if (!value) diagnostics_.Error(kBadParameters, fmt::format("`{}` has no constant `{}`", family, name));
    return value.value_or(1);
  }

 private:
  JsonObject& families_;
  Diagnostics& diagnostics_;
};

void ReadSigmas(JsonObject& root, Parameters& parameters, Diagnostics& diagnostics) {
  auto sigmas = root.Object("sigma");
  for (size_t family = 0; family < kFamilies; ++family) {
    const std::string name(kFamilyNames[family]);
    const auto sigma = sigmas ? sigmas->Quantity(name, Unit::kNumber) : std::nullopt;
    if (!sigma) diagnostics.Error(kBadParameters, fmt::format("no sigma of `{}`", name));
    parameters.sigma[family] = sigma.value_or(0);
  }
  parameters.tf32_sigma = parameters.sigma[static_cast<size_t>(Family::kGemm)];
  if (const auto tf32 = sigmas ? sigmas->Quantity("tf32", Unit::kNumber) : std::nullopt) parameters.tf32_sigma = *tf32;
  parameters.campaign_sigma.fill(sigmas ? sigmas->Quantity("campaign", Unit::kNumber).value_or(0) : 0);
  parameters.roofline_sigma = sigmas ? sigmas->Quantity("roofline", Unit::kNumber).value_or(1) : 1;
  parameters.power_sigma = sigmas ? sigmas->Quantity("power", Unit::kNumber).value_or(0) : 0;
  parameters.correlation = sigmas ? sigmas->Quantity("correlation", Unit::kNumber).value_or(0) : 0;
  for (const auto& [name, sigma] : {std::pair("collective-latency", &parameters.collective_latency_sigma),
                                    std::pair("collective-ramp", &parameters.collective_ramp_sigma)}) {
    const auto value = sigmas ? sigmas->Quantity(name, Unit::kNumber) : std::nullopt;
    if (!value) diagnostics.Error(kBadParameters, fmt::format("no sigma of `{}`", name));
    sigma->fill(value.value_or(0));
  }
  for (size_t op = 0; op < kCollectiveOps; ++op) {
    const auto own =
        sigmas ? sigmas->Quantity(fmt::format("{}-latency", kCollectiveKeys[op]), Unit::kNumber) : std::nullopt;
    if (own) parameters.collective_latency_sigma[op] = *own;
  }
  parameters.collective_sigma.fill(parameters.sigma[static_cast<size_t>(Family::kCollective)]);
}

Result<Parameters> ReadDefault() {
  const auto shipped = hardware::ReadModelFile("calibrated.json");
  if (!shipped) return shipped.error();
  return ReadParameters(shipped->text, shipped->path);
}

}  // namespace

std::string_view FamilyName(Family family) { return kFamilyNames[static_cast<size_t>(family)]; }

double* FindConstant(Parameters& parameters, std::string_view family, std::string_view constant) {
  if (family == "gemm") return FindIn(parameters.gemm, kGemm, constant);
  if (family == "linear") return FindIn(parameters.linear, kLinear, constant);
  if (family == "bmm") return FindIn(parameters.batched, kBatched, constant);
  if (family == "elementwise") return FindIn(parameters.memory, kMemory, constant);
  if (family == "rows") return FindIn(parameters.rows, kRows, constant);
  if (family == "convolution") return FindIn(parameters.convolution, kConvolution, constant);
  if (family == "dispatch") return FindIn(parameters.dispatch, kDispatch, constant);
  if (family == "stream") return FindIn(parameters.stream, kStream, constant);
  for (size_t op = 0; op < kCollectiveOps; ++op) {
    if (family != kCollectiveKeys[op]) continue;
    if (constant == "in_switch_ratio") return &parameters.in_switch_ratio;
    return FindIn(parameters.collectives[op], kCollective, constant);
  }
  return nullptr;
}

Result<Parameters> ReadParameters(std::string_view text, const std::string& file) {
  const auto json = ParseJson(text, file);
  if (!json) return json.error();
  Diagnostics diagnostics;
  const JsonSource source{.text = text, .file = file, .diagnostics = &diagnostics};
  JsonObject root(source, *json);
  root.Integer("schema_version", 1, 1);
  Parameters parameters;
  root.Require("families");
  auto families = root.Object("families");
  if (families) {
    Reader reader(*families, diagnostics);
    parameters.gemm = reader.Family("gemm", kGemm);
    parameters.tf32 = parameters.gemm;
    parameters.linear = reader.Family("linear", kLinear);
    parameters.batched = reader.Family("bmm", kBatched);
    parameters.memory = reader.Family("elementwise", kMemory);
    parameters.rows = reader.Family("rows", kRows);
    parameters.convolution = reader.Family("convolution", kConvolution);
    parameters.dispatch = reader.Family("dispatch", kDispatch);
    parameters.stream = reader.Family("stream", kStream);
    for (size_t op = 0; op < kCollectiveOps; ++op) {
      parameters.collectives[op] = reader.Family(kCollectiveKeys[op], kCollective);
    }
    auto family = families->Object("all-reduce");
    auto values = family ? family->Object("constants") : std::nullopt;
    parameters.in_switch_ratio = reader.Value(values, "all-reduce", "in_switch_ratio");
  }
  ReadSigmas(root, parameters, diagnostics);
  parameters.fingerprint = HashBytes(text);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!diagnostic.is_warning()) return diagnostic;
  }
  return parameters;
}

const Result<Parameters>& DefaultParameters() {
  static const Result<Parameters> parameters = ReadDefault();
  return parameters;
}

}  // namespace hespas::estimate::calibrated
