// Devices whose measurements are not public here, by the mean errors of simple baselines on them that others published.
#include <cmath>

#include "validate/measured_sets.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

// Devices whose shapes all others share: 375 matmuls, and the FP32 kernels of the test split.
constexpr std::string_view kMatmulShapes = "H100_80GB";
constexpr std::string_view kKernelShapes = "A100_PCIe_40GB";

// The measured shapes of an op, as kernels of the type.
std::vector<calibrated::KernelSpec> Shapes(const std::vector<KernelRow>& matmuls, const std::vector<KernelRow>& kernels,
                                           const std::string& op, calibrated::Datatype type) {
  std::vector<calibrated::KernelSpec> shapes;
  for (const KernelRow& row : kernels) {
    if (row.device == kKernelShapes && row.set == "kernels" && row.op == op) shapes.push_back(row.kernel);
  }
  for (const KernelRow& row : matmuls) {
    if (op != "gemm" || row.device != kMatmulShapes || row.kernel.type != calibrated::Datatype::kBf16) continue;
    calibrated::KernelSpec shape = row.kernel;
    shape.type = type;
    shape.result_bytes = 0;  // as the type writes it
    shapes.push_back(shape);
  }
  return shapes;
}

// What the baseline's mean error would be if the model's times were the measured ones; in percent.
double ErrorOfBaseline(const std::vector<calibrated::KernelSpec>& shapes, double constant_us,
                       const calibrated::KernelModel& model) {
  double sum = 0;
  for (const calibrated::KernelSpec& shape : shapes) {
    const calibrated::KernelTime time = model.Time(shape);
    sum += std::abs((time.datasheet_us + constant_us) / time.us - 1);
  }
  return 100 * sum / static_cast<double>(shapes.size());
}

}  // namespace

bool AddPublishedErrors(Groups& groups, const std::string& mode, const ModelOf& model_of, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("published_errors.csv", diagnostics);
  const auto matmuls = ReadGemmRows(diagnostics);
  const auto kernels = ReadKernelRows(diagnostics);
  if (!table || !matmuls || !kernels) return false;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    const std::string device = PresetOf(CellText(*table, row, "gpu"));
    const std::string op = CellText(*table, row, "op");
    const std::string type = CellText(*table, row, "dtype");
    const auto parsed = calibrated::ParseDatatype(type);
    const auto chosen = model_of(device);
    if (!parsed || !chosen) continue;
    const auto shapes = Shapes(*matmuls, *kernels, op, *parsed);
    if (shapes.empty()) continue;
    const calibrated::KernelModel model(chosen->figures, chosen->parameters);
    groups[{"published errors", mode, device, op == "gemm" ? type : op}].push_back(
        {.measured = CellNumber(*table, row, "error_percent"),
         .predicted = ErrorOfBaseline(shapes, CellNumber(*table, row, "constant_us"), model)});
  }
  return true;
}

}  // namespace hespas::validate
