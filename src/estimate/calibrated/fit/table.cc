#include "estimate/calibrated/fit/table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text/suggest.h"

namespace hespas::estimate::calibrated {
namespace {

// The columns of one table, looked up once.
class Columns {
 public:
  explicit Columns(const CsvTable& table) : table_(table) {}

  std::string_view Text(size_t row, std::string_view name) {
    const auto column = Find(name);
    return column ? std::string_view(table_.rows[row][*column]) : std::string_view();
  }
  double Number(size_t row, std::string_view name, double missing) {
    return CsvNumber(Text(row, name)).value_or(missing);
  }

 private:
  std::optional<size_t> Find(std::string_view name) {
    for (const auto& [known, column] : found_) {
      if (known == name) return column;
    }
    return found_.emplace_back(name, table_.Column(name)).second;
  }

  const CsvTable& table_;
  std::vector<std::pair<std::string_view, std::optional<size_t>>> found_;
};

// Warns of each subject once.
class Warner {
 public:
  Warner(const CsvTable& table, const std::string& file, Diagnostics& diagnostics)
      : table_(table), file_(file), diagnostics_(diagnostics) {}

  void Warn(size_t row, const std::string& message, std::string help = {}) {
    if (!said_.insert(message).second) return;
    diagnostics_.Warning(kNoPrediction, message, {.file = file_, .line = static_cast<size_t>(table_.lines[row])},
                         std::move(help));
  }

 private:
  const CsvTable& table_;
  const std::string& file_;
  Diagnostics& diagnostics_;
  std::set<std::string> said_;
};

// Of one element of a matmul's result, by the table's "bf16xbf16->f32"; 0 where it is not said.
double ResultBytes(Columns& columns, size_t row) {
  const std::string_view types = columns.Text(row, "dtypes");
  const size_t arrow = types.find("->");
  const auto type = arrow == std::string_view::npos ? std::nullopt : ParseDatatype(types.substr(arrow + 2));
  return type ? Entry(*type).bytes : 0;
}

// The measured GEMM table writes its types as "bf16xbf16->bf16", and TF32 as f32.
std::string_view TypeName(Columns& columns, size_t row) {
  std::string_view name = columns.Text(row, "dtype");
  if (!name.empty()) return name;
  name = columns.Text(row, "dtypes");
  name = name.substr(0, std::min(name.find('x'), name.find("->")));
  if (name == "f32") return "tf32";
  return name.empty() ? "f32" : name;
}

const Operation* OperationOf(Columns& columns, size_t row, Warner& warner) {
  std::string_view name = columns.Text(row, "op");
  if (name.empty()) name = columns.Text(row, "dtypes").empty() ? "" : "gemm";
  const Operation* operation = FindOperation(name);
  if (operation == nullptr) warner.Warn(row, fmt::format("no rule for the operation `{}`", name));
  return operation;
}

bool HasExtents(const KernelSpec& kernel) {
  switch (kernel.shape) {
    case Shape::kGemm:
    case Shape::kLinear:
    case Shape::kBatchedGemm:
      return kernel.m > 0 && kernel.n > 0 && kernel.k > 0;
    case Shape::kConvolution:
      return kernel.input_channels > 0 && kernel.output_channels > 0 && kernel.kernel_size > 0 && kernel.extent > 0;
    default:
      return kernel.n > 0;
  }
}

KernelSpec Sizes(Columns& columns, size_t row, const Operation& operation) {
  return {.shape = operation.shape,
          .b = columns.Number(row, "b", 1),
          .m = columns.Number(row, "m", 0),
          .n = columns.Number(row, "n", 0),
          .k = columns.Number(row, "k", 0),
          .input_channels = columns.Number(row, "ci", 0),
          .output_channels = columns.Number(row, "co", 0),
          .kernel_size = columns.Number(row, "ks", 0),
          .extent = columns.Number(row, "hw", 0),
          .stride = columns.Number(row, "stride", 1),
          .padding = columns.Number(row, "pad", 0),
          .arrays = operation.arrays,
          .weight = operation.weight,
          .dispatch_us = columns.Number(row, "dispatch_us", 0)};
}

std::optional<KernelSpec> ReadKernel(Columns& columns, size_t row, Warner& warner) {
  const Operation* operation = OperationOf(columns, row, warner);
  if (operation == nullptr) return std::nullopt;
  const std::string_view type_name = TypeName(columns, row);
  const auto type = ParseDatatype(type_name);
  if (!type) {
    warner.Warn(row, fmt::format("unknown datatype `{}`", type_name));
    return std::nullopt;
  }
  KernelSpec kernel = Sizes(columns, row, *operation);
  kernel.type = *type;
  kernel.result_bytes = ResultBytes(columns, row);
  if (!HasExtents(kernel)) {
    warner.Warn(row, fmt::format("a row of `{}` lacks a size", operation->name));
    return std::nullopt;
  }
  return kernel;
}

// Six significant digits, or all.
std::string Cell(double us, bool exact) { return exact ? fmt::format("{}", us) : fmt::format("{:.6g}", us); }

}  // namespace

Result<std::vector<std::optional<KernelSpec>>> ReadKernels(const CsvTable& table, const std::string& file,
                                                           Diagnostics& diagnostics) {
  if (!table.Column("op") && !table.Column("dtypes")) {
    return MakeError(kMissingColumn, "no column `op`", {.file = file, .line = 1},
                     "name the operation of each row: gemm, bmm, linear, conv, add, softmax, ln, ...");
  }
  Columns columns(table);
  Warner warner(table, file, diagnostics);
  std::vector<std::optional<KernelSpec>> kernels;
  kernels.reserve(table.rows.size());
  for (size_t row = 0; row < table.rows.size(); ++row) kernels.push_back(ReadKernel(columns, row, warner));
  return kernels;
}

Result<Predictions> PredictKernels(const CsvTable& table, const std::string& file, const KernelModel& model,
                                   Diagnostics& diagnostics) {
  const auto kernels = ReadKernels(table, file, diagnostics);
  if (!kernels) return kernels.error();
  Predictions predictions;
  predictions.reserve(kernels->size());
  for (const auto& kernel : *kernels) {
    predictions.emplace_back();
    if (!kernel) continue;
    const KernelTime time = model.Time(*kernel);
    predictions.back() = {.us = time.us, .sigma_us = time.sigma_us};
  }
  return predictions;
}

Result<std::vector<std::optional<CollectiveSpec>>> ReadCollectives(const CsvTable& table, const std::string& file,
                                                                   Diagnostics& diagnostics) {
  for (const char* name : {"op", "N", "bytes"}) {
    if (table.Column(name)) continue;
    return MakeError(kMissingColumn, fmt::format("no column `{}`", name), {.file = file, .line = 1});
  }
  Columns columns(table);
  Warner warner(table, file, diagnostics);
  std::vector<std::optional<CollectiveSpec>> collectives(table.rows.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string_view name = columns.Text(row, "op");
    const auto op = ParseCollective(name);
    const double ranks = columns.Number(row, "N", 0);
    const double bytes = columns.Number(row, "bytes", -1);
    if (!op || ranks < 1 || bytes < 0) {
      warner.Warn(row, op ? fmt::format("a row of `{}` lacks a size", name)
                          : fmt::format("no rule for the collective `{}`", name));
      continue;
    }
    collectives[row] = {.op = *op, .ranks = ranks, .bytes = bytes};
  }
  return collectives;
}

Result<Predictions> PredictCollectives(const CsvTable& table, const std::string& file, const CollectiveModel& model,
                                       Diagnostics& diagnostics) {
  const auto collectives = ReadCollectives(table, file, diagnostics);
  if (!collectives) return collectives.error();
  Predictions predictions;
  for (const auto& collective : *collectives) {
    predictions.emplace_back();
    if (!collective) continue;
    const CollectiveTime time = model.Time(*collective);
    predictions.back() = {.us = time.us, .sigma_us = time.sigma_us};
  }
  return predictions;
}

void AddPredictions(CsvTable& table, const Predictions& predictions) {
  const auto counted = [](const auto& prediction) { return prediction && prediction->cycles; };
  const bool cycles = std::any_of(predictions.begin(), predictions.end(), counted);
  table.columns.insert(table.columns.end(), {"predicted_us", "sigma_us"});
  if (cycles) table.columns.emplace_back("predicted_cycles");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const auto& prediction = predictions[row];
    auto& cells = table.rows[row];
    cells.push_back(prediction ? Cell(prediction->us, prediction->exact) : "");
    cells.push_back(prediction ? Cell(prediction->sigma_us, false) : "");
    if (cycles) cells.push_back(counted(prediction) ? fmt::format("{}", *prediction->cycles) : "");
  }
}

}  // namespace hespas::estimate::calibrated
