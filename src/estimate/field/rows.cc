#include "estimate/field/rows.h"

#include <algorithm>
#include <cmath>

#include "base/block_floats.h"
#include "estimate/field/experts/dispatch.h"

namespace hespas::estimate::field {
namespace {

class Row {
 public:
  Row(const CsvTable& table, size_t row) : table_(table), row_(row) {}

  std::string_view Text(std::string_view name) const {
    const auto column = table_.Column(name);
    return column ? std::string_view(table_.rows[row_][*column]) : std::string_view();
  }
  double Number(std::string_view name, double missing) const { return CsvNumber(Text(name)).value_or(missing); }

 private:
  const CsvTable& table_;
  size_t row_;
};

bool IsF8(std::string_view type) { return type.starts_with("fp8") || type.starts_with("f8"); }

std::optional<Format> FormatOf(std::string_view type) {
  if (type == "bf16" || type == "f16" || type == "bfloat16" || type == "float16") return Format::kF16;
  if (type == "fp8_block") return Format::kF8Block;
  if (type == "nvfp4") return Format::kNvF4;
  if (IsF8(type)) return Format::kF8;
  return std::nullopt;
}

std::optional<Matmul> MatmulIn(const Row& row) {
  const std::string_view op = row.Text("op");
  const std::string_view type = row.Text("dtype");
  const bool own_type = type == "fp8_block" || type == "nvfp4";
  if ((!op.empty() && op != "gemm") || (row.Text("timing") != "graph" && !own_type)) return std::nullopt;
  const auto format = FormatOf(type);
  const Matmul matmul{.format = format.value_or(Format::kF16),
                      .m = row.Number("m", 0),
                      .n = row.Number("n", 0),
                      .k = row.Number("k", 0)};
  const bool sized = matmul.m > 0 && matmul.n > 0 && matmul.k > 0 && row.Number("b", 1) == 1;
  return format && sized ? std::optional(matmul) : std::nullopt;
}

// What a row leaves out is as in the tables of graphs: TensorRT-LLM's kernels, and one start of a graph in each call.
std::optional<AttentionCall> AttentionIn(const Row& row, const Constants& constants) {
  if (row.Text("op") != "attention") return std::nullopt;
  const std::string_view phase = row.Text("phase");
  const std::string_view library = row.Text("framework");
  const bool graph = row.Text("timing") == "graph";
  if (phase != "context" && phase != "generation" && phase != "encoder") return std::nullopt;
  AttentionCall call{.phase = phase == "generation" ? Phase::kGeneration
                              : phase == "encoder"  ? Phase::kEncoder
                                                    : Phase::kContext,
                     .f8 = IsF8(row.Text("dtype")),
                     .f8_cache = IsF8(row.Text("kv_dtype")),
                     .batch = row.Number("batch", 0),
                     .queries = row.Number("seq_q", phase == "generation" ? 1 : 0),
                     .keys = row.Number("seq_kv", row.Number("seq_q", 0)),
                     .heads = row.Number("heads", 0)};
  call.key_heads = row.Number("kv_heads", call.heads);
  call.head_size = row.Number("head_dim", 0);
  call.window = row.Number("window", 0);
  const bool cached = call.phase != Phase::kEncoder && (graph || !library.empty());
  call.rope = row.Number("rope", cached && (library.empty() || library == "trtllm") ? 1 : 0) > 0;
  call.cache_write = row.Number("kv_write", cached ? 1 : 0) > 0;
  const double start =
      call.phase == Phase::kGeneration ? constants.generation.graph_start_us : constants.context.graph_start_us;
  call.dispatch_us = row.Number("dispatch_us", graph ? start : 0);
  const bool sized =
      call.batch > 0 && call.queries > 0 && call.keys > 0 && call.heads > 0 && call.key_heads > 0 && call.head_size > 0;
  return sized ? std::optional(call) : std::nullopt;
}

// Columns as in the table of a rank's experts: `inter` before `tp` divides it.
std::optional<ExpertLayer> ExpertsIn(const Row& row) {
  if (row.Text("op") != "moe") return std::nullopt;
  const std::string_view type = row.Text("dtype");
  constexpr std::string_view kPowerLaw = "power_law_";
  const bool narrow = type == "w4a16_mxfp4" || type == "w4a8_mxfp4_mxfp8";
  const auto format = type == "w4a16_mxfp4" ? Format::kF16 : type == "w4a8_mxfp4_mxfp8" ? Format::kF8 : FormatOf(type);
  const std::string_view loads = row.Text("distribution");
  const bool skewed = loads.starts_with(kPowerLaw);
  const auto exponent = skewed ? CsvNumber(loads.substr(kPowerLaw.size())) : 0.0;
  if (!format || !exponent || (!skewed && !loads.empty() && loads != "balanced")) return std::nullopt;
  const ExpertLayer layer{.format = *format,
                          .weight_bytes = narrow ? kMxFp4Bytes : 0,
                          .tokens = row.Number("tokens", 0),
                          .hidden = row.Number("hidden", 0),
                          .inner = row.Number("inter", 0),
                          .chosen = row.Number("topk", 0),
                          .experts = row.Number("experts", 0),
                          .tensor = row.Number("tp", 1),
                          .ranks = row.Number("ep", 1),
                          .gated = row.Number("gated", 1) > 0,
                          .exponent = *exponent};
  const bool sized = layer.tokens > 0 && layer.hidden > 0 && layer.inner > 0 && layer.chosen > 0 &&
                     layer.experts >= layer.chosen && layer.tensor >= 1 && layer.ranks >= 1;
  return sized ? std::optional(layer) : std::nullopt;
}

bool IsAllToAll(const Row& row) { return row.Text("op") == "dispatch" || row.Text("op") == "combine"; }

bool HasKnownMode(const Row& row) {
  const std::string_view mode = row.Text("mode");
  return mode.empty() || mode == "normal" || mode == "low-latency";
}

// Nothing where the device has no such network.
std::optional<Dispatch> DispatchIn(const Row& row, const DispatchLinks& links) {
  if (!IsAllToAll(row) || !HasKnownMode(row)) return std::nullopt;
  Dispatch dispatch{.combine = row.Text("op") == "combine",
                    .low_latency = row.Text("mode") == "low-latency",
                    .hosts = row.Number("nodes", 1),
                    .ranks = row.Number("gpus", 0),
                    .tokens = row.Number("tokens", 0),
                    .hidden = row.Number("hidden", 0),
                    .chosen = row.Number("topk", 0),
                    .experts = row.Number("experts", 0)};
  constexpr double kMostChosen = 4096;  // each is drawn
  dispatch.sms = row.Number("sms", dispatch.sms);
  const bool sized = dispatch.hosts >= 1 && dispatch.ranks >= std::max(2.0, dispatch.hosts) && dispatch.tokens > 0 &&
                     dispatch.hidden > 0 && dispatch.chosen >= 1 && dispatch.chosen <= kMostChosen &&
                     dispatch.experts >= std::max(dispatch.chosen, dispatch.ranks);
  const bool finite = std::isfinite(dispatch.tokens * dispatch.hidden * dispatch.ranks * dispatch.experts);
  const bool linked = links.within > 0 && (dispatch.hosts <= 1 || links.between > 0);
  return sized && finite && linked ? std::optional(dispatch) : std::nullopt;
}

// The column of an all-to-all's row whose cell says nothing. Kernels of low latency take no multiprocessors.
std::optional<std::string_view> BadColumn(const Row& row) {
  if (!IsAllToAll(row)) return std::nullopt;
  if (!HasKnownMode(row)) return "mode";
  const std::string_view cell = row.Text("sms");
  const auto sms = CsvNumber(cell);
  const bool known = cell.empty() || (sms && (*sms >= 1 || row.Text("mode") == "low-latency"));
  return known ? std::nullopt : std::optional<std::string_view>("sms");
}

}  // namespace

bool CheckDispatchRows(const CsvTable& table, const std::string& file, Diagnostics& diagnostics) {
  bool ok = true;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    const auto column = BadColumn(row);
    if (!column) continue;
    ok = false;
    diagnostics.Error(kBadDispatchRow,
                      fmt::format("column `{}` of `{}` has `{}`", *column, row.Text("op"), row.Text(*column)),
                      {.file = file, .line = static_cast<size_t>(table.lines[i])},
                      *column == "mode" ? "write normal or low-latency" : "write a number of at least 1");
  }
  return ok;
}

std::vector<std::optional<Call>> CallsOfRows(const CsvTable& table, const Constants& constants) {
  std::vector<std::optional<Call>> calls(table.rows.size());
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    if (const auto matmul = MatmulIn(row)) calls[i] = *matmul;
    if (const auto layer = ExpertsIn(row)) calls[i] = *layer;
    if (const auto call = AttentionIn(row, constants)) calls[i] = *call;
  }
  return calls;
}

std::vector<std::optional<Time>> TimesOfRows(const CsvTable& table, const hardware::Device& device,
                                             const Constants& constants) {
  const Chip chip = MakeChip(device);
  const DispatchLinks links = LinksOf(device);
  const auto calls = CallsOfRows(table, constants);
  std::vector<std::optional<Time>> times(table.rows.size());
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (calls[i]) {
      times[i] = std::visit([&](const auto& call) { return TimeOf(chip, constants, call); }, *calls[i]);
      continue;
    }
    const Row row(table, i);
    if (const auto dispatch = DispatchIn(row, links); dispatch && DefaultDispatchConstants()) {
      times[i] = TimeOf(chip, *DefaultDispatchConstants(), links, *dispatch);
    }
  }
  return times;
}

}  // namespace hespas::estimate::field
