// Whole models and the nodes of their graphs, from the operators and shapes that their measurers wrote down.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "driver/figures/uncertainty.h"
#include "validate/measured_sets.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

constexpr double kSmallestNodeMs = 0.05;  // below, a node's label is mostly the host's
constexpr double kConsistent = 0.08;      // of a model: its nodes' labels sum up to its own

double Product(const std::vector<double>& shape) {
  double product = 1;
  for (const double extent : shape) product *= extent;
  return product;
}

// One operator of a node: "['BMM', (16, 512, 64, 512)]", or of shapes: "['MEM', ((8, 512), (8, 512, 16))]".
struct NodeOp {
  std::string name;
  std::vector<std::vector<double>> shapes;  // numbers of each innermost bracket
};

std::vector<NodeOp> ParseOps(std::string_view text) {
  std::vector<NodeOp> ops;
  bool open = false;  // a bracket with numbers
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\'') {
      const size_t end = text.find('\'', i + 1);
      if (end == std::string_view::npos) break;
      ops.push_back({.name = std::string(text.substr(i + 1, end - i - 1)), .shapes = {}});
      i = end + 1;
      open = false;
    } else if (std::isdigit(static_cast<unsigned char>(c)) && !ops.empty()) {
      if (!open) ops.back().shapes.emplace_back();
      open = true;
      size_t length = 0;
      ops.back().shapes.back().push_back(std::stod(std::string(text.substr(i, 18)), &length));
      i += length;
    } else {
      if (c == '(' || c == ')' || c == '[' || c == ']') open = false;
      ++i;
    }
  }
  return ops;
}

// The shapes of a node's arrays: "[(8, 32, 2048, 2048), (1,)]".
std::vector<std::vector<double>> ParseShapes(const std::string& text) {
  auto ops = ParseOps("'arrays'" + text);
  return ops.empty() ? std::vector<std::vector<double>>() : std::move(ops.front().shapes);
}

// An elementwise node reads what its inputs hold: scalars cost nothing, and an input that is repeated along a dimension
// costs the arithmetic of its index for each element.
void ReadShapes(const CsvTable& table, size_t row, calibrated::KernelSpec& kernel) {
  constexpr double kIndexInstructions = 27;
  const double elements = kernel.b * kernel.n;
  double read = 0;
  for (const auto& shape : ParseShapes(CellText(table, row, "InputShapes"))) {
    const double own = Product(shape);
    read += own;
    if (own > 1 && own < elements) kernel.weight.lanes = kIndexInstructions;
  }
  if (read > 0) kernel.bytes = 4 * (std::min(read, kernel.arrays * elements) + elements);
}

// Nothing for an operator that moves and computes nothing.
std::optional<calibrated::KernelSpec> KernelOf(const NodeOp& op) {
  if (op.shapes.empty()) return std::nullopt;
  const std::vector<double>& s = op.shapes.front();
  if (op.name == "Linear" && s.size() == 3) {
    return calibrated::KernelSpec{.shape = calibrated::Shape::kLinear, .m = s[0], .n = s[2], .k = s[1]};
  }
  if (op.name == "BMM" && s.size() == 4) {
    return calibrated::KernelSpec{.shape = calibrated::Shape::kBatchedGemm, .b = s[0], .m = s[1], .n = s[3], .k = s[2]};
  }
  if (op.name.starts_with("VEC") && s.size() == 2) {
    const calibrated::Operation* operation = calibrated::FindOperation(op.name.substr(3));
    if (operation == nullptr) return std::nullopt;
    return calibrated::KernelSpec{
        .shape = operation->shape, .b = s[0], .n = s[1], .arrays = operation->arrays, .weight = operation->weight};
  }
  double bytes = 0;
  for (const auto& shape : op.shapes) bytes += 4 * Product(shape);
  return calibrated::KernelSpec{.shape = calibrated::Shape::kTraffic, .bytes = bytes};
}

// Times of kernels that run one after the other.
struct Cost {
  double us = 0;
  driver::CorrelatedSigma sigma;

  void Add(const std::vector<NodeOp>& ops, double count, const calibrated::KernelModel& model) {
    for (const NodeOp& op : ops) {
      const auto kernel = KernelOf(op);
      if (!kernel) continue;
      const calibrated::KernelTime time = model.Time(*kernel);
      us += count * time.us;
      sigma.Add(static_cast<size_t>(calibrated::FamilyOf(*kernel)), time.sigma_us, count);
    }
  }
};

double TimeOf(const std::vector<NodeOp>& ops, const calibrated::KernelModel& model) {
  Cost cost;
  cost.Add(ops, 1, model);
  return cost.us;
}

// Nodes without operators that nevertheless read and write their arrays.
constexpr std::string_view kMovers[] = {"max", "min", "masked_fill", "cat"};

std::vector<NodeOp> MoverOps(const CsvTable& table, size_t row) {
  const std::string name = CellText(table, row, "Name");
  const std::string_view stem = std::string_view(name).substr(0, name.find('_'));
  for (const std::string_view mover : kMovers) {
    if (stem != mover && name != mover) continue;
    // Shapes stand without an operator's name: give them one.
    return ParseOps("'MEM'" + CellText(table, row, "InputShapes") + CellText(table, row, "OutputShape"));
  }
  return {};
}

bool IsCore(const std::string& op) { return op == "Linear" || op == "BMM" || op.starts_with("VEC"); }

// What one eager call of an op costs on a host: the smallest latency of its kernels, or of nodes that have next to
// nothing to do.
class Dispatch {
 public:
  Dispatch(const CsvTable& nodes, const calibrated::KernelModel& model, const std::map<std::string, double>& kernels)
      : kernels_(kernels) {
    constexpr double kTinyUs = 10;
    for (size_t row = 0; row < nodes.rows.size(); ++row) {
      const std::string op = CellText(nodes, row, "OpName");
      const double label_us = 1e3 * CellNumber(nodes, row, "label_fw_ms");
      if (!IsCore(op) || !(label_us > 0)) continue;
      if (TimeOf(ParseOps(CellText(nodes, row, "FwOps")), model) < kTinyUs) Lower(nodes_, GroupOf(op), label_us);
    }
  }

  double Of(const std::string& op) const {
    std::map<std::string, double> floor;
    if (const auto found = kernels_.find(KernelOp(op)); found != kernels_.end()) Lower(floor, op, found->second);
    if (const auto found = nodes_.find(GroupOf(op)); found != nodes_.end()) Lower(floor, op, found->second);
    return floor.empty() ? 0 : floor.begin()->second;
  }

 private:
  static void Lower(std::map<std::string, double>& floor, const std::string& op, double us) {
    auto [entry, fresh] = floor.emplace(op, us);
    if (!fresh) entry->second = std::min(entry->second, us);
  }
  static std::string KernelOp(const std::string& op) {
    return op.starts_with("VEC") ? op.substr(3) : op == "BMM" ? "bmm" : "linear";
  }
  static std::string GroupOf(const std::string& op) {
    return op.starts_with("VEC") && op != "VECln" && op != "VECsoftmax" ? "elementwise" : op;
  }

  const std::map<std::string, double>& kernels_;
  std::map<std::string, double> nodes_;
};

// A node's forward kernel as an isolated eager call, measured in another campaign than the kernels that constants and
// their uncertainties come from.
calibrated::KernelTime TimeOfCall(const CsvTable& table, size_t row, const std::vector<NodeOp>& ops,
                                  const Dispatch& dispatch, const calibrated::KernelModel& model) {
  calibrated::KernelTime call;
  const std::string name = CellText(table, row, "OpName");
  for (const NodeOp& op : ops) {
    auto kernel = KernelOf(op);
    if (!kernel) continue;
    kernel->dispatch_us = dispatch.Of(name);
    if (kernel->shape == calibrated::Shape::kElementwise) ReadShapes(table, row, *kernel);
    const calibrated::KernelTime time = model.Time(*kernel);
    const auto family = static_cast<size_t>(calibrated::FamilyOf(*kernel));
    call.us += time.us;
    call.sigma_us += std::hypot(time.sigma_us, time.us * model.parameters().campaign_sigma[family]);
  }
  return call;
}

std::string ClassOf(const std::string& op) {
  if (op == "Linear") return "linear";
  if (op == "BMM") return "bmm";
  return op == "VECln" || op == "VECsoftmax" ? op.substr(3) : "elementwise";
}

struct Model {
  double nodes_ms = 0;  // sum of labels
  double roofline_us = 0;
  Cost cost;
};

void AddNodes(Groups& groups, const std::string& mode, const std::string& device, const CsvTable& table,
              const calibrated::KernelModel& model, const std::map<std::string, double>& floors,
              std::map<std::string, Model>& models) {
  const Dispatch dispatch(table, model, floors);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string op = CellText(table, row, "OpName");
    const double count = CellNumber(table, row, "count");
    const auto forward = ParseOps(CellText(table, row, "FwOps"));
    const double label_ms = CellNumber(table, row, "label_fw_ms");
    if (IsCore(op) && label_ms >= kSmallestNodeMs) {
      const calibrated::KernelTime call = TimeOfCall(table, row, forward, dispatch, model);
      groups[{"nodes", mode, device, ClassOf(op)}].push_back(
          {.measured = 1e3 * label_ms,
           .predicted = call.us,
           .sigma = call.sigma_us,
           .roofline = 1e3 * CellNumber(table, row, "roofline_fw_ms"),
           .published = 1e3 * CellNumber(table, row, "neusight_fw_ms")});
    }
    Model& whole = models[CellText(table, row, "desc")];
    whole.nodes_ms += count * CellNumber(table, row, "label_e2e_ms");
    whole.cost.Add(forward.empty() ? MoverOps(table, row) : forward, count, model);
    if (CellText(table, row, "mode") != "train") continue;
    whole.cost.Add(ParseOps(CellText(table, row, "BwOps")), count, model);
    whole.cost.Add(ParseOps(CellText(table, row, "AccOps")), count, model);
  }
}

}  // namespace

bool AddModels(Groups& groups, const std::string& mode, const ModelOf& model_of, Diagnostics& diagnostics) {
  const auto nodes = LoadMeasured("model_ops.csv.gz", diagnostics);
  const auto whole = LoadMeasured("models_e2e.csv", diagnostics);
  if (!nodes || !whole) return false;
  const auto floors = DispatchFloors(diagnostics);
  const auto runs = ByDevice(*whole, "gpu");
  for (const auto& [measured, part] : ByDevice(*nodes, "gpu")) {
    const std::string device = PresetOf(measured);
    const auto chosen = model_of(device);
    if (!chosen) continue;
    std::map<std::string, Model> models;
    AddNodes(groups, mode, device, part, calibrated::KernelModel(chosen->figures, chosen->parameters),
             floors.contains(device) ? floors.at(device) : std::map<std::string, double>(), models);
    const auto run = runs.find(measured);
    if (run == runs.end()) continue;
    const CsvTable& table = run->second;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const std::string name = CellText(table, row, "model") + "-" + CellText(table, row, "mode") + "-" +
                               CellText(table, row, "seqlen") + "-" + CellText(table, row, "batch");
      const double label_ms = CellNumber(table, row, "label_e2e_ms");
      const auto model = models.find(name);
      if (!CellText(table, row, "option").empty() || model == models.end()) continue;
      if (std::abs(model->second.nodes_ms / label_ms - 1) >= kConsistent) continue;
      groups[{"models", mode, device, CellText(table, row, "mode")}].push_back(
          {.measured = 1e3 * label_ms,
           .predicted = model->second.cost.us,
           .sigma = model->second.cost.sigma.Total(chosen->parameters.correlation),
           .roofline = 1e3 * CellNumber(table, row, "roofline_e2e_ms"),
           .published = 1e3 * CellNumber(table, row, "neusight_e2e_ms")});
    }
  }
  return true;
}

}  // namespace hespas::validate
