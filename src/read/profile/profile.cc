#include "read/profile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/json_text.h"

namespace hespas::read {
namespace {

using nlohmann::json;
using trace::MeasuredOp;
using trace::MeasuredStep;

using Line = std::pair<int64_t, int64_t>;  // process, thread

struct Event {
  const json* source = nullptr;
  std::string_view name;
  std::string_view category;
  Line line;
  double start = 0;  // microseconds
  double end = 0;
};

struct Window {
  double start = 0;
  double end = 0;
};

std::string_view TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? std::string_view(found->get_ref<const std::string&>())
                                                     : std::string_view();
}

double NumberOf(const json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

// Processes and threads are numbers or, in Kineto's, sometimes texts.
int64_t IdOf(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return -1;
  if (found->is_number()) return internal::SaturatingRound(found->get<double>());
  if (!found->is_string()) return -1;
  return static_cast<int64_t>(std::hash<std::string>()(found->get_ref<const std::string&>()) >> 1);
}

const json& Arguments(const Event& event) {
  static const json kNone = json::object();
  const auto found = event.source->find("args");
  return found != event.source->end() && found->is_object() ? *found : kNone;
}

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool Communicates(std::string_view name) {
  const std::string low = Lower(name);
  for (const std::string_view part : {"nccl", "rccl", "all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                      "collective-permute", "allreduce", "allgather", "reducescatter", "sendrecv"}) {
    if (Contains(low, part)) return true;
  }
  return false;
}

class Reader {
 public:
  explicit Reader(const json& root) {
    const json& events = root.is_array() ? root : root.contains("traceEvents") ? root["traceEvents"] : kNoEvents;
    if (!events.is_array()) return;
    for (const json& event : events) {
      if (event.is_object()) Add(event);
    }
  }

  // Empty where the trace has no operations.
  MeasuredStep Read() {
    MeasuredStep out;
    const std::map<int64_t, double> busy = FindOps();
    if (busy.empty()) return out;
    const auto busiest =
        std::max_element(busy.begin(), busy.end(), [](auto& a, auto& b) { return a.second < b.second; });
    std::erase_if(ops_, [&](const Event& op) { return op.line.first != busiest->first; });
    std::stable_sort(ops_.begin(), ops_.end(), [](const Event& a, const Event& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    out.profiler = kineto_ ? "Kineto" : "XLA";
    out.device = processes_.contains(busiest->first) ? processes_[busiest->first] : "";
    out.devices = busy.size();
    Choose(StepStarts(busiest->first), out);
    return out;
  }

 private:
  inline static const json kNoEvents = json::array();

  void Add(const json& event) {
    const std::string_view phase = TextOf(event, "ph");
    const Line line(IdOf(event, "pid"), IdOf(event, "tid"));
    const std::string_view name = TextOf(event, "name");
    if (phase == "M") {
      const auto args = event.find("args");
      if (args == event.end() || !args->is_object()) return;
      if (name == "process_name") processes_[line.first] = TextOf(*args, "name");
      if (name == "thread_name") threads_[line] = TextOf(*args, "name");
      return;
    }
    if (phase != "X") return;
    const double start = NumberOf(event, "ts", -1);
    const double duration = NumberOf(event, "dur", 0);
    if (!(start >= 0) || !(duration >= 0) || !(start + duration < 1e18)) return;
    events_.push_back({&event, name, TextOf(event, "cat"), line, start, start + duration});
  }

  bool IsOp(const Event& event) const {
    const std::string category = Lower(event.category);
    if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" || category == "memcpy" ||
        category == "memset") {
      return true;
    }
    if (kineto_) return false;
    const auto process = processes_.find(event.line.first);
    const bool device = process != processes_.end() && process->second.starts_with("/device:");
    const std::string_view line = LineName(event);
    if (line == "XLA Ops" || (device && line.starts_with("Stream #"))) return true;
    // Further lines of a device say the same again, by framework name or source line.
    return (!device || line.empty()) && Arguments(event).contains("hlo_op");
  }

  std::string_view LineName(const Event& event) const {
    const auto thread = threads_.find(event.line);
    return thread == threads_.end() ? std::string_view() : thread->second;
  }

  // The time of operations by process.
  std::map<int64_t, double> FindOps() {
    kineto_ = std::any_of(events_.begin(), events_.end(), [](const Event& e) {
      return Lower(e.category) == "kernel" || e.category == "cpu_op" || e.category == "cuda_runtime";
    });
    std::set<int64_t> streams;  // processes whose streams are recorded: their "XLA Ops" are made from those
    for (const Event& event : events_) {
      if (LineName(event).starts_with("Stream #")) streams.insert(event.line.first);
    }
    std::map<int64_t, double> busy;
    for (const Event& event : events_) {
      if (!IsOp(event) || (LineName(event) == "XLA Ops" && streams.contains(event.line.first))) continue;
      ops_.push_back(event);
      busy[event.line.first] += event.end - event.start;
    }
    return busy;
  }

  // Windows of the steps, by start; an operation belongs to the last one that began before it (or its launch).
  std::vector<Window> StepStarts(int64_t device) {
    std::vector<Window> steps;
    std::vector<Window> annotated;  // by StepTraceAnnotation, on the host
    std::map<std::string, std::vector<Window>> modules;
    std::map<std::string, std::vector<Window>> calls;
    for (const Event& event : events_) {
      const Window window{event.start, event.end};
      const std::string_view line = LineName(event);
      const bool own = event.line.first == device;
      if (kineto_ ? event.name.starts_with("ProfilerStep#") && event.category != "gpu_user_annotation"
                  : own && line == "Steps") {
        steps.push_back(window);
      }
      if (!kineto_ && Arguments(event).contains("step_num")) annotated.push_back(window);
      if (own && line == "XLA Modules") modules[std::string(event.name)].push_back(window);
      if (event.name.starts_with("PjitFunction(")) calls[std::string(event.name)].push_back(window);
    }
    if (steps.empty()) steps = Longest(modules);
    if (steps.empty()) steps = std::move(annotated);
    closed_ = !steps.empty() && !kineto_;
    if (steps.empty() && !kineto_) steps = Longest(calls);
    std::sort(steps.begin(), steps.end(), [](const Window& a, const Window& b) { return a.start < b.start; });
    return steps;
  }

  static std::vector<Window> Longest(const std::map<std::string, std::vector<Window>>& named) {
    const std::vector<Window>* best = nullptr;
    double most = -1;
    for (const auto& [name, windows] : named) {
      double sum = 0;
      for (const Window& window : windows) sum += window.end - window.start;
      if (sum > most) best = &windows;
      most = std::max(most, sum);
    }
    return best == nullptr ? std::vector<Window>() : *best;
  }

  // When each operation was launched, by correlation number, where the trace tells.
  std::unordered_map<int64_t, double> Launches() const {
    std::unordered_map<int64_t, double> out;
    if (!kineto_) return out;
    for (const Event& event : events_) {
      if (event.category != "cuda_runtime" && event.category != "cuda_driver") continue;
      const auto found = Arguments(event).find("correlation");
      if (found != Arguments(event).end() && found->is_number())
        out[IdOf(Arguments(event), "correlation")] = event.start;
    }
    return out;
  }

  // Cuts the operations into steps and keeps the median one.
  void Choose(const std::vector<Window>& windows, MeasuredStep& out) {
    const auto launches = Launches();
    std::map<size_t, std::vector<const Event*>> steps;
    for (const Event& op : ops_) {
      const auto launch = launches.find(IdOf(Arguments(op), "correlation"));
      const double at = launch == launches.end() ? op.start : launch->second;
      const auto behind =
          std::upper_bound(windows.begin(), windows.end(), at, [](double t, const Window& w) { return t < w.start; });
      const auto step = static_cast<size_t>(behind - windows.begin());
      // What runs before the first step or behind the end of the last belongs to none.
      if (!windows.empty() && step == 0) continue;
      if (closed_ && step == windows.size() && op.start > windows.back().end) continue;
      steps[step].push_back(&op);
    }
    struct Span {
      const std::vector<const Event*>* ops;
      double start;
      double length;
      size_t index;
    };
    std::vector<Span> spans;
    for (const auto& [step, ops] : steps) {
      double end = 0;
      for (const Event* op : ops) end = std::max(end, op->end);
      if (!spans.empty()) spans.back().length = ops.front()->start - spans.back().start;
      spans.push_back({&ops, ops.front()->start, end - ops.front()->start, spans.size()});
    }
    out.steps = spans.size();
    if (spans.empty()) return;
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.length < b.length; });
    const Span& median = spans[(spans.size() - 1) / 2];
    out.index = median.index;
    out.length = Picoseconds(median.length);
    Fill(*median.ops, median.start, out);
  }

  static Time Picoseconds(double microseconds) { return Time::Seconds(microseconds * 1e-6); }

  void Fill(const std::vector<const Event*>& ops, double origin, MeasuredStep& out) const {
    std::map<Line, std::pair<uint32_t, std::vector<uint32_t>>> lanes;  // number, open operations
    for (const Event* op : ops) {
      auto& [lane, open] =
          lanes.try_emplace(op->line, static_cast<uint32_t>(lanes.size()), std::vector<uint32_t>()).first->second;
      MeasuredOp made{.lane = lane,
                      .start = Picoseconds(op->start - origin),
                      .end = std::min(Picoseconds(op->end - origin), out.length)};
      const std::string_view instruction = TextOf(Arguments(*op), "hlo_op");
      made.name = instruction.empty() ? op->name : instruction;
      for (const char* key : {"tf_op", "name", "op_name"}) {
        if (made.framework.empty()) made.framework = TextOf(Arguments(*op), key);
      }
      while (made.framework.ends_with(':')) made.framework.pop_back();
      made.communication = Communicates(made.name) || Communicates(op->name);
      while (!open.empty() && out.ops[open.back()].end <= made.start) open.pop_back();
      if (!open.empty() && made.end <= out.ops[open.back()].end) made.parent = open.back();
      open.push_back(static_cast<uint32_t>(out.ops.size()));
      out.ops.push_back(std::move(made));
    }
  }

  std::vector<Event> events_;
  std::vector<Event> ops_;
  std::map<int64_t, std::string> processes_;
  std::map<Line, std::string> threads_;
  bool kineto_ = false;
  bool closed_ = false;  // what runs behind the end of the last step is none of it
};

}  // namespace

Result<MeasuredStep> ReadProfile(std::string_view text, const std::string& file) {
  const auto root = ParseJson(text, file);
  if (!root) return root.error();
  MeasuredStep step = Reader(*root).Read();
  if (!step.ops.empty()) return step;
  return MakeError(kNoProfile, fmt::format("`{}` holds no operations of a device", file), {},
                   "give the trace.json.gz that jax.profiler writes, or what torch.profiler exports");
}

}  // namespace hespas::read
