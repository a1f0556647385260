#include "estimate/field/rows.h"

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

}  // namespace

std::vector<std::optional<Time>> TimesOfRows(const CsvTable& table, const Chip& chip, const Constants& constants) {
  std::vector<std::optional<Time>> times(table.rows.size());
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    if (const auto matmul = MatmulIn(row)) times[i] = TimeOf(chip, constants, *matmul);
    if (const auto call = AttentionIn(row, constants)) times[i] = TimeOf(chip, constants, *call);
  }
  return times;
}

}  // namespace hespas::estimate::field
