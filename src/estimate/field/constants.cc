#include "estimate/field/constants.h"

#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "estimate/field/experts/dispatch.h"
#include "hardware/model_file.h"

namespace hespas::estimate::field {
namespace {

template <class Family>
struct Entry {
  const char* name;
  double Family::*value;
};

constexpr Entry<MatmulConstants> kMatmul[] = {
    {"start_clocks", &MatmulConstants::start_clocks},
    {"full_extent", &MatmulConstants::full_extent},
    {"fill", &MatmulConstants::fill},
    {"epilogue_bytes", &MatmulConstants::epilogue_bytes},
    {"memory_fraction", &MatmulConstants::memory_fraction},
    {"overlap_power", &MatmulConstants::overlap_power},
    {"latency_clocks", &MatmulConstants::latency_clocks},
    {"l2_bytes_per_clock", &MatmulConstants::l2_bytes_per_clock},
    {"split_us", &MatmulConstants::split_us},
    {"pj_per_flop", &MatmulConstants::pj_per_flop},
    {"register_energy", &MatmulConstants::register_energy},
    {"burst", &MatmulConstants::burst},
    {"burst_us", &MatmulConstants::burst_us},
    {"sigma", &MatmulConstants::sigma},
};
constexpr Entry<NarrowConstants> kNarrow[] = {
    {"start_us", &NarrowConstants::start_us},
    {"start_clocks", &NarrowConstants::start_clocks},
    {"passes_bytes", &NarrowConstants::passes_bytes},
    {"power_exponent", &NarrowConstants::power_exponent},
    {"sigma", &NarrowConstants::sigma},
};
constexpr Entry<ScaledConstants> kScaled[] = {
    {"start_us", &ScaledConstants::start_us},         {"start_clocks", &ScaledConstants::start_clocks},
    {"passes_bytes", &ScaledConstants::passes_bytes}, {"step_clocks", &ScaledConstants::step_clocks},
    {"tile_clocks", &ScaledConstants::tile_clocks},   {"sigma", &ScaledConstants::sigma},
};
constexpr Entry<BlockConstants> kBlock[] = {
    {"start_us", &BlockConstants::start_us},         {"start_clocks", &BlockConstants::start_clocks},
    {"passes_bytes", &BlockConstants::passes_bytes}, {"step_clocks", &BlockConstants::step_clocks},
    {"tile_clocks", &BlockConstants::tile_clocks},   {"sigma", &BlockConstants::sigma},
    {"promotion", &BlockConstants::promotion},       {"feed_bytes", &BlockConstants::feed_bytes},
};
constexpr Entry<ExpertConstants> kExperts[] = {
    {"nvfp4", &ExpertConstants::nvf4},
    {"shared_reads", &ExpertConstants::shared_reads},
    {"mxfp4_by_bf16", &ExpertConstants::widened_f4},
    {"mxfp4_in_shared", &ExpertConstants::widened_f4_in_shared},
    {"start_clocks", &ExpertConstants::start_clocks},
    {"token_passes", &ExpertConstants::token_passes},
    {"inner_passes", &ExpertConstants::inner_passes},
    {"routing_clocks", &ExpertConstants::routing_clocks},
    {"quantising_clocks", &ExpertConstants::quantising_clocks},
    {"quantised_passes", &ExpertConstants::quantised_passes},
    {"block_factor", &ExpertConstants::block_factor},
    {"sigma", &ExpertConstants::sigma},
};
constexpr Entry<ContextConstants> kContext[] = {
    {"matrix_fraction", &ContextConstants::matrix_fraction},
    {"exponential_share", &ContextConstants::exponential_share},
    {"lane_operations", &ContextConstants::lane_operations},
    {"overlap_power", &ContextConstants::overlap_power},
    {"power_fraction", &ContextConstants::power_fraction},
    {"softmax_pj", &ContextConstants::softmax_pj},
    {"block_clocks", &ContextConstants::block_clocks},
    {"element_clocks", &ContextConstants::element_clocks},
    {"window_factor", &ContextConstants::window_factor},
    {"l2_bytes_per_clock", &ContextConstants::l2_bytes_per_clock},
    {"cache_share", &ContextConstants::cache_share},
    {"registers", &ContextConstants::registers},
    {"graph_start_us", &ContextConstants::graph_start_us},
    {"sigma", &ContextConstants::sigma},
};
constexpr Entry<GenerationConstants> kGeneration[] = {
    {"memory_fraction", &GenerationConstants::memory_fraction},
    {"l2_bytes_per_clock", &GenerationConstants::l2_bytes_per_clock},
    {"row_bytes", &GenerationConstants::row_bytes},
    {"overlap_power", &GenerationConstants::overlap_power},
    {"dispatch_power", &GenerationConstants::dispatch_power},
    {"graph_start_us", &GenerationConstants::graph_start_us},
    {"sigma", &GenerationConstants::sigma},
    {"lanes_clocks", &GenerationConstants::lanes_clocks},
    {"lanes_element_clocks", &GenerationConstants::lanes_element_clocks},
    {"lanes_narrow_f8", &GenerationConstants::lanes_narrow_f8},
    {"general_clocks", &GenerationConstants::general_clocks},
    {"general_element_clocks", &GenerationConstants::general_element_clocks},
    {"general_f8", &GenerationConstants::general_f8},
    {"general_tile_clocks", &GenerationConstants::general_tile_clocks},
    {"wide_clocks", &GenerationConstants::wide_clocks},
    {"wide_row_clocks", &GenerationConstants::wide_row_clocks},
    {"flash_clocks", &GenerationConstants::flash_clocks},
    {"flash_row_clocks", &GenerationConstants::flash_row_clocks},
    {"byte_clocks", &GenerationConstants::byte_clocks},
    {"merge_clocks", &GenerationConstants::merge_clocks},
    {"wide_merge_clocks", &GenerationConstants::wide_merge_clocks},
    {"wide_f8_per_clock", &GenerationConstants::wide_f8_per_clock},
    {"wide_f8_alone", &GenerationConstants::wide_f8_alone},
    {"narrow_f8_per_clock", &GenerationConstants::narrow_f8_per_clock},
    {"narrow_f8_alone", &GenerationConstants::narrow_f8_alone},
    {"general_f8_per_clock", &GenerationConstants::general_f8_per_clock},
    {"flash_block_bytes", &GenerationConstants::flash_block_bytes},
    {"general_block_bytes", &GenerationConstants::general_block_bytes},
};

constexpr Entry<DispatchKernel> kDispatch[] = {
    {"start_clocks", &DispatchKernel::start_clocks},
    {"low_latency_start_clocks", &DispatchKernel::low_latency_start_clocks},
    {"host_clocks", &DispatchKernel::host_clocks},
    {"bytes", &DispatchKernel::bytes},
    {"low_latency_bytes", &DispatchKernel::low_latency_bytes},
    {"reads", &DispatchKernel::reads},
    {"link_fraction", &DispatchKernel::link_fraction},
    {"sigma", &DispatchKernel::sigma},
};

template <class Family, size_t kCount>
void ReadFamily(JsonObject& families, const std::string& name, const Entry<Family> (&table)[kCount], Family& family,
                Diagnostics& diagnostics) {
  auto object = families.Object(name);
  auto values = object ? object->Object("constants") : std::nullopt;
  for (const Entry<Family>& entry : table) {
    auto constant = values ? values->Object(entry.name) : std::nullopt;
    const auto value = constant ? constant->Quantity("value", Unit::kNumber) : std::nullopt;
    if (!value || !(*value > 0)) {
      diagnostics.Error(kBadFieldConstants, fmt::format("`{}` has no constant `{}` above 0", name, entry.name));
    }
    family.*entry.value = value.value_or(1);
  }
}

template <class Take>
void EachFamily(Constants& constants, const Take& take) {
  take("matmul", kMatmul, constants.matmul);
  take("fp8", kNarrow, constants.f8);
  take("fp8_block", kBlock, constants.f8_block);
  take("nvfp4", kScaled, constants.nvf4);
  take("experts", kExperts, constants.experts);
  take("attention_context", kContext, constants.context);
  take("attention_generation", kGeneration, constants.generation);
}

// `read` takes its families out of the file.
template <class All, class Read>
Result<All> ReadAll(std::string_view text, const std::string& file, const Read& read) {
  const auto json = ParseJson(text, file);
  if (!json) return json.error();
  Diagnostics diagnostics;
  const JsonSource source{.text = text, .file = file, .diagnostics = &diagnostics};
  JsonObject root(source, *json);
  root.Integer("schema_version", 1, 1);
  root.Require("families");
  All constants;
  if (auto families = root.Object("families")) read(*families, constants, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!diagnostic.is_warning()) return diagnostic;
  }
  return constants;
}

template <class All>
Result<All> ReadShipped(Result<All> (*read)(std::string_view, const std::string&)) {
  const auto shipped = hardware::ReadModelFile("field.json");
  if (!shipped) return shipped.error();
  return read(shipped->text, shipped->path);
}

Result<DispatchConstants> ReadDispatchConstants(std::string_view text, const std::string& file) {
  return ReadAll<DispatchConstants>(text, file,
                                    [](JsonObject& families, DispatchConstants& constants, Diagnostics& diagnostics) {
                                      ReadFamily(families, "dispatch", kDispatch, constants.dispatch, diagnostics);
                                      ReadFamily(families, "combine", kDispatch, constants.combine, diagnostics);
                                    });
}

}  // namespace

Result<Constants> ReadConstants(std::string_view text, const std::string& file) {
  return ReadAll<Constants>(text, file, [](JsonObject& families, Constants& constants, Diagnostics& diagnostics) {
    EachFamily(constants, [&](const char* name, const auto& table, auto& family) {
      ReadFamily(families, name, table, family, diagnostics);
    });
  });
}

std::vector<NamedConstant> ConstantsOf(Constants& constants, std::string_view family) {
  std::vector<NamedConstant> named;
  EachFamily(constants, [&](std::string_view name, const auto& table, auto& values) {
    if (name != family) return;
    for (const auto& entry : table) named.push_back({entry.name, &(values.*entry.value)});
  });
  return named;
}

const Result<Constants>& DefaultConstants() {
  static const Result<Constants> constants = ReadShipped(&ReadConstants);
  return constants;
}

const Result<DispatchConstants>& DefaultDispatchConstants() {
  static const Result<DispatchConstants> constants = ReadShipped(&ReadDispatchConstants);
  return constants;
}

const Hash128& DefaultFingerprint() {
  static const Hash128 fingerprint = [] {
    const auto shipped = hardware::ReadModelFile("field.json");
    return HashBytes(shipped ? std::string_view(shipped->text) : std::string_view());
  }();
  return fingerprint;
}

}  // namespace hespas::estimate::field
