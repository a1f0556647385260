#include "validate/measured_sets.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/fit/table.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

constexpr double kLaunchUs = 5;  // the constant of "roofline and a constant", where the host's is not known

constexpr std::string_view kElementwise[] = {"add",  "mul",  "div",  "pow",  "addu", "mulu",
                                             "divu", "powu", "relu", "gelu", "tanh"};

std::string OpClass(const std::string& op) {
  const bool elementwise = std::find(std::begin(kElementwise), std::end(kElementwise), op) != std::end(kElementwise);
  return elementwise ? "elementwise" : op;
}

std::string SizeClass(double bytes) {
  constexpr double kMiB = 1024.0 * 1024;
  return bytes > 64 * kMiB ? "above 64 MiB" : bytes > kMiB ? "1-64 MiB" : "up to 1 MiB";
}

// One model for each device that occurs; nothing for those that are not compared.
template <class Model>
class ModelCache {
 public:
  explicit ModelCache(const ModelOf& model_of) : model_of_(model_of) {}

  const Model* Of(const std::string& device) {
    const auto [entry, fresh] = models_.try_emplace(device);
    if (fresh) {
      if (const auto found = model_of_(device)) entry->second.emplace(found->figures, found->parameters);
    }
    return entry->second ? &*entry->second : nullptr;
  }

 private:
  const ModelOf& model_of_;
  std::map<std::string, std::optional<Model>> models_;
};

}  // namespace

std::optional<std::vector<KernelRow>> ReadGemmRows(Diagnostics& diagnostics) {
  const auto table = LoadMeasured("gemm.csv", diagnostics);
  if (!table) return std::nullopt;
  const auto kernels = calibrated::ReadKernels(*table, "gemm.csv", diagnostics);
  if (!kernels) return std::nullopt;
  std::vector<KernelRow> rows;
  for (size_t row = 0; row < kernels->size(); ++row) {
    if (!(*kernels)[row]) continue;
    const calibrated::KernelSpec& kernel = *(*kernels)[row];
    rows.push_back({.set = "gemm",
                    .device = PresetOf(CellText(*table, row, "key")),
                    .op = std::string(calibrated::Entry(kernel.type).name),
                    .kernel = kernel,
                    .us = CellNumber(*table, row, "latency_us"),
                    .constant_us = kLaunchUs});
  }
  return rows;
}

std::optional<std::vector<KernelRow>> ReadKernelRows(Diagnostics& diagnostics) {
  const auto table = LoadMeasured("kernels.csv.gz", diagnostics);
  if (!table) return std::nullopt;
  std::vector<KernelRow> rows;
  for (auto& [measured, part] : ByDevice(*table, "gpu")) {
    AddDispatch(part);
    const auto kernels = calibrated::ReadKernels(part, "kernels.csv.gz", diagnostics);
    if (!kernels) return std::nullopt;
    for (size_t row = 0; row < kernels->size(); ++row) {
      if (!(*kernels)[row]) continue;
      rows.push_back({.set = CellText(part, row, "split") == "test" ? "kernels" : "kernels (training split)",
                      .device = PresetOf(measured),
                      .op = OpClass(CellText(part, row, "op")),
                      .kernel = *(*kernels)[row],
                      .us = CellNumber(part, row, "latency_us"),
                      .constant_us = (*kernels)[row]->dispatch_us});
    }
  }
  return rows;
}

std::optional<std::vector<CollectiveRow>> ReadCollectiveRows(Diagnostics& diagnostics) {
  const auto table = LoadMeasured("collectives.csv", diagnostics);
  if (!table) return std::nullopt;
  std::vector<CollectiveRow> rows;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    const auto op = calibrated::ParseCollective(CellText(*table, row, "op"));
    if (!op) continue;
    const double bytes = CellNumber(*table, row, "bytes");
    rows.push_back({.device = PresetOf(CellText(*table, row, "key")),
                    .size = SizeClass(bytes),
                    .collective = {.op = *op, .ranks = CellNumber(*table, row, "N"), .bytes = bytes},
                    .us = CellNumber(*table, row, "t_us"),
                    .wire_bytes = CellNumber(*table, row, "V")});
  }
  return rows;
}

Comparison Compare(const KernelRow& row, const calibrated::KernelModel& model) {
  const calibrated::KernelTime time = model.Time(row.kernel);
  return {.measured = row.us,
          .predicted = time.us,
          .sigma = time.sigma_us,
          .roofline = time.datasheet_us,
          .roofline_constant = time.datasheet_us + row.constant_us};
}

Comparison Compare(const CollectiveRow& row, const calibrated::CollectiveModel& model) {
  const calibrated::CollectiveTime time = model.Time(row.collective);
  const double wire = row.wire_bytes / model.ports().rate;
  return {.measured = row.us,
          .predicted = time.us,
          .sigma = time.sigma_us,
          .roofline = wire,
          .roofline_constant = wire + kLaunchUs};
}

void AddRows(Groups& groups, const std::string& mode, const std::vector<KernelRow>& rows, const ModelOf& model_of) {
  ModelCache<calibrated::KernelModel> models(model_of);
  for (const KernelRow& row : rows) {
    const auto* model = models.Of(row.device);
    if (model != nullptr) groups[{row.set, mode, row.device, row.op}].push_back(Compare(row, *model));
  }
}

void AddRows(Groups& groups, const std::string& mode, const std::vector<CollectiveRow>& rows, const ModelOf& model_of) {
  ModelCache<calibrated::CollectiveModel> models(model_of);
  for (const CollectiveRow& row : rows) {
    const auto* model = models.Of(row.device);
    if (model != nullptr) groups[{"collectives", mode, row.device, row.size}].push_back(Compare(row, *model));
  }
}

}  // namespace hespas::validate
