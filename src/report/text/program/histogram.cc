#include "report/text/program/histogram.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/text/digest.h"
#include "base/text/json.h"
#include "ir/attributes/attribute.h"
#include "ir/op_name.h"
#include "ir/walk.h"
#include "report/text/table.h"

namespace hespas::report {
namespace {

using ir::Module;
using ir::OpId;
using ir::OpKind;

constexpr std::string_view kRule = "-----------------------------------";

int64_t SaturatingSum(int64_t a, int64_t b) {
  return a > std::numeric_limits<int64_t>::max() - b ? std::numeric_limits<int64_t>::max() : a + b;
}

std::string OperandTypes(const Module& module, OpId op) {
  std::vector<std::string> types;
  for (const ir::ValueId operand : module.operands(op)) types.push_back(module.types().Text(module.type_id(operand)));
  return fmt::format("{}", fmt::join(types, ", "));
}

// The prototype prints eight bytes of the hash of the JSON text of the types, in Python's spelling of bytes and the
// alphabet for URLs.
std::string PrototypeTypesKey(const Module& module, OpId op) {
  std::vector<std::string> types;
  for (const ir::ValueId operand : module.operands(op)) {
    types.push_back(fmt::format("\"{}\"", module.types().Text(module.type_id(operand))));
  }
  const std::string digest = Sha1(fmt::format(": [{}]}}", fmt::join(types, ", ")));
  std::string text = Base64(std::string_view(digest).substr(0, 8));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return fmt::format("\"_b'{}'", text);
}

// Counts by key in order of first appearance.
class Counter {
 public:
  void Count(std::string_view key, int64_t times = 1) {
    const auto [found, added] = index_.try_emplace(std::string(key), rows_.size());
    if (added) rows_.push_back({std::string(key), 0});
    rows_[found->second].count = SaturatingSum(rows_[found->second].count, times);
  }
  void Count(const Counter& other) {
    for (const HistogramRow& row : other.rows_) Count(row.name, row.count);
  }

  Histogram Finish() && {
    Histogram histogram{.rows = std::move(rows_)};
    std::stable_sort(histogram.rows.begin(), histogram.rows.end(),
                     [](const HistogramRow& a, const HistogramRow& b) { return a.count > b.count; });
    for (const HistogramRow& row : histogram.rows) histogram.total = SaturatingSum(histogram.total, row.count);
    return histogram;
  }

 private:
  std::vector<HistogramRow> rows_;
  std::unordered_map<std::string, size_t> index_;
};

class OperatorCounter {
 public:
  OperatorCounter(const Module& module, const HistogramOptions& options)
      : module_(module),
        options_(options),
        expand_(options.extent == Extent::kExpanded && !(options.compatible && options.operand_types)) {}

  Histogram Run() {
    Counter counter;
    if (options_.extent == Extent::kAllRegions) {
      counter.Count(Key(module_.root()));
      ir::WalkNested(module_, module_.root(), [&](OpId op) { counter.Count(Key(op)); });
      return std::move(counter).Finish();
    }
    const OpId main = module_.main();
    if (!main.valid() || !module_.body(main).valid()) return {};
    CountCallees(main);
    CountBlock(main, counter);
    return std::move(counter).Finish();
  }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };

  std::string Key(OpId op) const {
    // Portable artifacts count like the programs they were made of; all regions show what the file holds.
    std::string key =
        options_.extent == Extent::kAllRegions ? std::string(module_.name(op)) : ir::StableName(module_, op);
    if (!options_.operand_types) return key;
    return options_.compatible ? key + PrototypeTypesKey(module_, op)
                               : fmt::format("{}({})", key, OperandTypes(module_, op));
  }

  OpId Callee(OpId op) const {
    if (module_.kind(op) != OpKind::kFuncCall) return OpId();
    const std::string_view* callee = module_.attribute(op, "callee");
    return callee ? module_.FindSymbol(ir::AsSymbol(*callee)) : OpId();
  }

  // The first block of main, with calls and fusions replaced by what they hold.
  void CountBlock(OpId function, Counter& counter) {
    for (const OpId op : module_.block(module_.body(function)).ops) CountOp(op, counter);
  }

  void CountOp(OpId op, Counter& counter) {
    const auto callee = counts_.find(Callee(op));
    if (expand_ && callee != counts_.end()) {
      counter.Count(callee->second);
      return;
    }
    if (!expand_ || module_.kind(op) != OpKind::kFusion) {
      counter.Count(Key(op));
      return;
    }
    ir::WalkNested(module_, op, [&](OpId inner) {
      if (module_.kind(inner) != OpKind::kFusion) counter.Count(Key(inner));
    });
  }

  // Counts of every function reachable from `main`, callees before callers; a function met again while it is open
  // calls itself and is left as a call.
  void CountCallees(OpId main) {
    if (!expand_) return;
    std::vector<OpId> stack = {main};
    while (!stack.empty()) {
      const OpId function = stack.back();
      State& state = states_[function];
      if (state == State::kNew) {
        state = State::kOpen;
        ir::WalkNested(module_, function, [&](OpId op) {
          const OpId callee = Callee(op);
          if (callee.valid() && states_[callee] == State::kNew) stack.push_back(callee);
        });
        continue;
      }
      stack.pop_back();
      if (state == State::kDone || function == main) continue;
      state = State::kDone;
      Counter counter;
      ir::WalkNested(module_, function, [&](OpId op) {
        const bool own_return = ir::StableName(module_, op) == "func.return";
        const auto callee = counts_.find(Callee(op));
        if (callee != counts_.end()) {
          counter.Count(callee->second);
        } else if (!own_return) {
          counter.Count(Key(op));
        }
      });
      counts_.emplace(function, std::move(counter));
    }
  }

  const Module& module_;
  const HistogramOptions options_;
  const bool expand_;
  std::unordered_map<OpId, State> states_;
  std::unordered_map<OpId, Counter> counts_;
};

}  // namespace

Histogram CountOperators(const Module& module, const HistogramOptions& options) {
  return OperatorCounter(module, options).Run();
}

std::string ToPrototypeText(const Histogram& histogram, bool csv_rows) {
  std::string out = fmt::format("MLIR Analysis Results:\n{}\nUnique Operators   : {}\n\nOperator Histogram:\n", kRule,
                                histogram.rows.size());
  for (const HistogramRow& row : histogram.rows) {
    out +=
        csv_rows ? fmt::format("{},{}\n", row.name, row.count) : fmt::format("  {:.<30}: {:>5}\n", row.name, row.count);
  }
  return out + fmt::format("{}\n  {:.<30}: {:>5}\n\n", kRule, "Total Operators", histogram.total);
}

namespace {

Table AsTable(const Histogram& histogram) {
  Table table{.columns = {{"op", Align::kLeft}, {"count", Align::kRight}}};
  for (const HistogramRow& row : histogram.rows) table.rows.push_back({row.name, std::to_string(row.count)});
  return table;
}

}  // namespace

std::string ToCsv(const Histogram& histogram) { return ToCsv(AsTable(histogram)); }

std::string ToMarkdown(const Histogram& histogram) { return ToMarkdown(AsTable(histogram)); }

std::string ToJson(const Histogram& histogram) {
  std::string out = fmt::format("{{\"total\": {}, \"unique\": {}, \"ops\": {{", histogram.total, histogram.rows.size());
  const char* separator = "";
  for (const HistogramRow& row : histogram.rows) {
    const nlohmann::json name = row.name;
    out += fmt::format("{}{}: {}", separator, JsonText(name), row.count);
    separator = ", ";
  }
  return out + "}}\n";
}

}  // namespace hespas::report
