#include "memory/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/line_index.h"
#include "ir/attributes/attribute.h"
#include "ir/facts/execution/scheduled.h"
#include "memory/buffers/heap_packing.h"
#include "memory/category.h"
#include "memory/layers_over_time.h"
#include "memory/liveness.h"
#include "memory/order/block_order.h"
#include "memory/order/breadth_first.h"
#include "memory/regions.h"

namespace hespas::memory {
namespace {

using result::MemoryCurve;

// "layers.py:88" of an op's metadata.
std::string SourceOf(const ir::Module& module, ir::OpId op) {
  const std::string_view* text = module.attribute(op, "metadata");
  const std::string plain = text == nullptr ? std::string() : ir::AsString(*text).value_or(std::string(*text));
  const auto part = [&](std::string_view key, std::string_view stop) {
    const size_t at = plain.find(key);
    if (at == std::string::npos) return std::string();
    const size_t begin = at + key.size();
    return plain.substr(begin, plain.find_first_of(stop, begin) - begin);
  };
  const std::string file = part("source_file=\"", "\"");
  if (file.empty()) return {};
  return fmt::format("{}:{}", file, part("source_line=", " }"));
}

class Curve {
 public:
  Curve(const ir::Module& module, const MemoryOptions& options)
      : module_(module),
        options_(options),
        block_(module.body(module.main())),
        policy_(BufferPolicyOf(module, options.compiler, options.keep_order || ir::IsScheduled(module))),
        sizes_(module, policy_.alignment),
        reuse_(module, policy_.sees_reshapes) {}

  MemoryCurve Run() {
    if (!block_.valid()) return {};
    donation_ = memory::DonationOf(module_);
    CountArgumentsAndResults();
    const int64_t limit = Limit();
    const memory::InsideByOp inside = memory::InsidesOf(module_, sizes_, policy_, limit);
    ChooseOrder(inside, limit);
    const memory::Categories categories(module_, order_, donation_);
    CountPersistent(categories);
    Fill(categories, inside);
    return std::move(curve_);
  }

 private:
  // XLA takes arguments and results off, and those once that share a buffer.
  int64_t Limit() const {
    if (!options_.room) return memory::kNoLimit;
    const Bytes held = curve_.arguments + curve_.outputs - curve_.aliased;
    return std::llround(options_.room(static_cast<double>(held.value)));
  }

  void ChooseOrder(const memory::InsideByOp& inside, int64_t limit) {
    if (policy_.order == RunOrder::kLeastMemory) {
      const auto analyse = [&](const std::vector<ir::OpId>& order) { return Analyse(order, inside); };
      memory::Ordered ordered = memory::OrderOf(module_,
                                                {.block = block_,
                                                 .sizes = sizes_,
                                                 .plans_by_model = policy_.plans_by_model,
                                                 .limit = limit,
                                                 .own_counts = true},
                                                analyse);
      order_ = std::move(ordered.order);
      liveness_ = std::move(ordered.liveness);
      return;
    }
    order_ =
        policy_.order == RunOrder::kOwn ? memory::OwnOrder(module_, block_) : memory::BreadthFirst(module_, block_);
    liveness_ = Analyse(order_, inside);
  }

  memory::Liveness Analyse(const std::vector<ir::OpId>& order, const memory::InsideByOp& inside) {
    return memory::Analyse(module_,
                           {.block = block_,
                            .sizes = sizes_,
                            .policy = policy_,
                            .reuse = reuse_,
                            .order = order,
                            .is_main = true,
                            .donation = &donation_},
                           inside);
  }

  void CountPersistent(const memory::Categories& categories) {
    for (const ir::ValueId argument : module_.arguments(block_)) {
      const Bytes bytes(sizes_.Of(argument));
      persistent_[static_cast<size_t>(categories.Of(argument))] += bytes;
      tensors_.push_back({.value = argument, .bytes = bytes.value, .from = 0, .until = End()});
    }
  }

  void CountArgumentsAndResults() {
    for (const ir::ValueId argument : module_.arguments(block_)) curve_.arguments += Bytes(sizes_.Of(argument));
    const auto& ops = module_.block(block_).ops;
    if (ops.empty() || !ir::IsTerminator(module_.kind(ops.back()))) return;
    size_t i = 0;
    for (const ir::ValueId value : module_.operands(ops.back())) {
      const Bytes bytes(sizes_.Of(value));
      curve_.outputs += bytes;
      if (i < donation_.argument_of_result.size() && donation_.argument_of_result[i] != memory::Donation::kNone) {
        curve_.aliased += bytes;
      }
      ++i;
    }
  }

  uint32_t End() const { return static_cast<uint32_t>(order_.size()); }

  void Fill(const memory::Categories& categories, const memory::InsideByOp& inside) {
    std::vector<result::BytesByCategory> change(order_.size() + 2);
    for (const Interval& interval : liveness_.intervals) {
      const auto category = static_cast<size_t>(categories.Of(interval.value));
      change[interval.from][category] += Bytes(interval.bytes);
      change[interval.until + 1][category] += Bytes(-interval.bytes);
    }
    result::BytesByCategory held = persistent_;
    std::vector<Time> starts;
    Time now;
    for (uint32_t at = 0; at <= End(); ++at) {
      for (size_t c = 0; c < held.size(); ++c) held[c] += change[at][c];
      result::BytesByCategory all = held;
      if (at < End()) AddInside(inside, order_[at], categories, all);
      starts.push_back(now);
      AddPoint(now, all);
      if (at < End() && options_.duration) now += options_.duration(order_[at]);
    }
    const Bytes gaps(memory::FragmentationOf(WithInsides(inside)));
    const Bytes temporaries = Bytes(liveness_.bytes[liveness_.peak]) + gaps;
    curve_.temporaries = temporaries;
    curve_.peak = curve_.arguments + temporaries;
    curve_.peak_at = starts[liveness_.peak];
    NameLargest(categories, inside, starts, now);
    if (options_.layer) AddLayers(inside, starts, now);
    for (result::MemoryPoint& point : curve_.points) {
      if (point.start != curve_.peak_at || point.total() + gaps != curve_.peak) continue;
      point.held[static_cast<size_t>(result::MemoryCategory::kTemporaries)] += gaps;
      curve_.at_peak = point.held;
    }
  }

  // What ops hold inside lies among the temporaries as well.
  std::vector<Interval> WithInsides(const memory::InsideByOp& inside) const {
    std::vector<Interval> all = liveness_.intervals;
    for (uint32_t at = 0; at < End(); ++at) {
      const auto found = inside.find(order_[at].value);
      if (found == inside.end()) continue;
      for (Interval interval : found->second.held) {
        interval.from = interval.until = at;
        interval.result = false;
        all.push_back(interval);
      }
    }
    return all;
  }

  static void AddInside(const memory::InsideByOp& inside, ir::OpId op, const memory::Categories& categories,
                        result::BytesByCategory& held) {
    const auto found = inside.find(op.value);
    if (found == inside.end()) return;
    for (const Interval& interval : found->second.held) {
      held[static_cast<size_t>(categories.OfNested(interval.value))] += Bytes(interval.bytes);
    }
  }

  // What ops make and hold inside, by the layer that makes it.
  void AddLayers(const memory::InsideByOp& inside, const std::vector<Time>& starts, Time end) {
    LayersOverTime layers(module_, options_.layer);
    const auto time = [&](uint32_t position) { return position < starts.size() ? starts[position] : end; };
    for (const Interval& interval : WithInsides(inside)) {
      const bool last = interval.until >= End();
      layers.Add(interval, time(interval.from), last ? std::nullopt : std::optional(time(interval.until + 1)));
    }
    layers.Finish(curve_);
  }

  // Of several points of one time the highest stays, so that a curve without durations still shows the peak.
  void AddPoint(Time start, const result::BytesByCategory& held) {
    result::MemoryPoint point{.start = start, .held = held};
    if (curve_.points.empty() || curve_.points.back().start != start) {
      if (curve_.points.empty() || curve_.points.back().held != held) curve_.points.push_back(point);
    } else if (point.total() > curve_.points.back().total()) {
      curve_.points.back() = point;
    }
  }

  void NameLargest(const memory::Categories& categories, const memory::InsideByOp& inside,
                   const std::vector<Time>& starts, Time end) {
    std::vector<Interval> nested;
    if (liveness_.peak < End()) {
      const auto found = inside.find(order_[liveness_.peak].value);
      if (found != inside.end()) nested = found->second.held;
    }
    for (Interval& interval : nested) interval.from = interval.until = liveness_.peak;
    const std::vector<Interval> held = memory::HeldAt(liveness_, liveness_.peak);
    tensors_.insert(tensors_.end(), held.begin(), held.end());
    const size_t outer = tensors_.size();
    tensors_.insert(tensors_.end(), nested.begin(), nested.end());
    std::vector<size_t> by_size(tensors_.size());
    for (size_t i = 0; i < by_size.size(); ++i) by_size[i] = i;
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](size_t a, size_t b) { return tensors_[a].bytes > tensors_[b].bytes; });
    const LineIndex lines(options_.largest > 0 ? module_.source() : std::string_view());
    for (size_t i = 0; i < std::min(by_size.size(), options_.largest); ++i) {
      const Interval& interval = tensors_[by_size[i]];
      if (interval.bytes == 0) break;
      const bool is_nested = by_size[i] >= outer;
      result::LiveTensor tensor = Describe(interval.value, lines);
      if (interval.workspace) tensor.name = fmt::format("workspace of {}", tensor.name);
      tensor.bytes = Bytes(interval.bytes);
      tensor.category = is_nested ? categories.OfNested(interval.value) : categories.Of(interval.value);
      tensor.from = starts[interval.from];
      tensor.until = interval.until < End() ? starts[interval.until + 1] : end;
      curve_.largest.push_back(std::move(tensor));
    }
  }

  result::LiveTensor Describe(ir::ValueId value, const LineIndex& lines) const {
    const std::string type = module_.types().Text(module_.type_id(value));
    const ir::OpId op = module_.defining_op(value);
    result::LiveTensor tensor;
    if (op.valid()) {
      tensor.name = fmt::format("{} {}", module_.name(op), type);
      tensor.location = module_.LocationAt(module_.op(op).source, lines);
      tensor.source = SourceOf(module_, op);
    } else {
      tensor.name = fmt::format("argument {} {}", static_cast<uint32_t>(module_.value(value).index), type);
      tensor.location = module_.LocationAt(module_.op(module_.main()).source, lines);
    }
    return tensor;
  }

  const ir::Module& module_;
  const MemoryOptions& options_;
  ir::BlockId block_;
  BufferPolicy policy_;
  memory::BufferSizes sizes_;
  memory::InPlaceReuse reuse_;
  memory::Donation donation_;
  std::vector<ir::OpId> order_;
  memory::Liveness liveness_;
  result::BytesByCategory persistent_{};
  std::vector<Interval> tensors_;  // alive at the peak
  MemoryCurve curve_;
};

}  // namespace

MemoryCurve MemoryOf(const ir::Module& module, const MemoryOptions& options) { return Curve(module, options).Run(); }

}  // namespace hespas::memory
