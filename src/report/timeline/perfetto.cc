#include "report/timeline/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <vector>

#include "base/line_index.h"
#include "report/step/kernel_name.h"
#include "report/timeline/slices.h"

namespace hespas::report {
namespace {

using protozero::pbf_writer;

// Field numbers of Perfetto's trace_packet.proto, track_event.proto, track_descriptor.proto, debug_annotation.proto and
// interned_data.proto.
namespace packet_field {
enum : uint32_t { kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13, kTrack = 60 };
}
namespace event_field {
enum : uint32_t {
  kCategory = 3,
  kAnnotation = 4,
  kType = 9,
  kName = 10,
  kTrack = 11,
  kCounter = 30,
  kDoubleCounter = 44,
  kFlows = 47,
  kEnding = 48
};
}
namespace track_field {
enum : uint32_t { kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8 };
}
namespace annotation_field {
enum : uint32_t { kNameId = 1, kInteger = 4, kText = 6, kTextId = 17 };
}
namespace interned_field {
enum : uint32_t { kCategories = 1, kEventNames = 2, kAnnotationNames = 3, kAnnotationTexts = 29 };
}
enum EventType : int32_t { kBegin = 1, kEnd = 2, kCounter = 4 };

constexpr uint32_t kSequence = 1;
constexpr uint32_t kClearState = 1;
constexpr uint32_t kNeedsState = 2;
constexpr uint32_t kBytesUnit = 3;

// Names that packets refer to by number; each is written before its first use.
class Interned {
 public:
  explicit Interned(uint32_t field) : field_(field) {}

  uint64_t Of(std::string_view text) {
    const auto [found, added] = ids_.try_emplace(std::string(text), ids_.size() + 1);
    if (added) fresh_.push_back(&*found);
    return found->second;
  }
  void WriteFresh(pbf_writer& data) {
    for (const auto* entry : fresh_) {
      scratch_.clear();
      pbf_writer name(scratch_);
      name.add_uint64(1, entry->second);
      name.add_bytes(2, entry->first);
      data.add_message(field_, scratch_);
    }
    fresh_.clear();
  }
  bool has_fresh() const { return !fresh_.empty(); }

 private:
  uint32_t field_;
  std::map<std::string, uint64_t, std::less<>> ids_;
  std::vector<const std::pair<const std::string, uint64_t>*> fresh_;
  std::string scratch_;
};

class Writer {
 public:
  Writer(const StepView& step, const TimelineCounters& counters)
      : step_(step),
        memory_(counters.memory),
        power_(counters.power),
        module_(*step.blocks.module),
        lines_(module_.source()),
        kernels_(step_) {}

  std::string Write() {
    slices_ = MakeSlices(step_);
    Packet([](pbf_writer& packet) { packet.add_uint32(packet_field::kFlags, kClearState); });
    Describe();
    for (size_t i = 0; i < slices_.slices.size(); ++i) events_.push_back({slices_.slices[i].start, i, true});
    for (size_t i = 0; i < slices_.slices.size(); ++i) events_.push_back({slices_.slices[i].end, i, false});
    // Ends before begins of one moment, so that slices of a track never nest.
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::pair(a.at, a.begins) < std::pair(b.at, b.begins);
    });
    CollectCounters();
    size_t next = 0;
    for (const Event& event : events_) {
      for (; next < counts_.size() && counts_[next].at <= event.at; ++next) WriteCount(counts_[next]);
      WriteEvent(event);
    }
    for (; next < counts_.size(); ++next) WriteCount(counts_[next]);
    return std::move(out_);
  }

 private:
  static constexpr int64_t kNanosecond = 1000;

  struct Event {
    Time at;
    size_t slice;
    bool begins;
  };

  struct Count {
    Time at;
    uint64_t track;
    double value;
    bool whole;
  };

  void CollectCounters() {
    if (memory_) {
      for (const result::MemoryPoint& point : memory_->points) {
        const auto held = static_cast<double>(point.total().value);
        for (size_t i = 0; i < slices_.processes.size(); ++i)
          counts_.push_back({point.start, MemoryTrack(i), held, true});
      }
    }
    if (power_) {
      for (const PowerPoint& point : PowerPoints(step_, slices_, *power_))
        counts_.push_back({point.start, PowerTrack(point.process), point.watts, false});
    }
    std::stable_sort(counts_.begin(), counts_.end(), [](const Count& a, const Count& b) { return a.at < b.at; });
  }

  template <class Fill>
  void Packet(Fill&& fill) {
    packet_.clear();
    pbf_writer packet(packet_);
    packet.add_uint32(packet_field::kSequence, kSequence);
    fill(packet);
    pbf_writer(out_).add_message(1, packet_);
  }

  uint64_t ProcessTrack(size_t process) const { return 1 + process; }
  uint64_t SliceTrack(size_t track) const { return 1 + slices_.processes.size() + track; }
  uint64_t MemoryTrack(size_t process) const { return 1 + slices_.processes.size() + slices_.tracks.size() + process; }
  uint64_t PowerTrack(size_t process) const { return MemoryTrack(slices_.processes.size() + process); }

  void Describe() {
    for (size_t i = 0; i < slices_.processes.size(); ++i) {
      Track(ProcessTrack(i), 0, "", [&](pbf_writer& track) {
        std::string process;
        pbf_writer writer(process);
        writer.add_int32(1, static_cast<int32_t>(i + 1));
        writer.add_string(6, slices_.processes[i].name);
        track.add_message(track_field::kProcess, process);
      });
      std::string counter;
      pbf_writer(counter).add_uint32(3, kBytesUnit);
      if (memory_) CounterTrack(MemoryTrack(i), i, "memory", counter);
      counter.clear();
      pbf_writer(counter).add_string(6, "W");
      if (power_) CounterTrack(PowerTrack(i), i, "power", counter);
    }
    for (size_t i = 0; i < slices_.tracks.size(); ++i) {
      Track(SliceTrack(i), ProcessTrack(slices_.tracks[i].process), slices_.tracks[i].name, [](pbf_writer&) {});
    }
  }

  void CounterTrack(uint64_t uuid, size_t process, const std::string& name, const std::string& unit) {
    Track(uuid, ProcessTrack(process), name,
          [&](pbf_writer& track) { track.add_message(track_field::kCounter, unit); });
  }

  template <class Fill>
  void Track(uint64_t uuid, uint64_t parent, const std::string& name, Fill&& fill) {
    Packet([&](pbf_writer& packet) {
      std::string text;
      pbf_writer track(text);
      track.add_uint64(track_field::kUuid, uuid);
      if (!name.empty()) track.add_string(track_field::kName, name);
      if (parent != 0) track.add_uint64(track_field::kParent, parent);
      fill(track);
      packet.add_message(packet_field::kTrack, text);
    });
  }

  void WriteEvent(const Event& event) {
    const Slice& slice = slices_.slices[event.slice];
    text_.clear();
    pbf_writer writer(text_);
    writer.add_int32(event_field::kType, event.begins ? kBegin : kEnd);
    writer.add_uint64(event_field::kTrack, SliceTrack(slice.track));
    if (event.begins) Fill(slice, writer);
    Packet([&](pbf_writer& packet) {
      packet.add_uint64(packet_field::kTimestamp, static_cast<uint64_t>(event.at.value / kNanosecond));
      packet.add_uint32(packet_field::kFlags, kNeedsState);
      WriteInterned(packet);
      packet.add_message(packet_field::kTrackEvent, text_);
    });
  }

  void WriteInterned(pbf_writer& packet) {
    if (!categories_.has_fresh() && !names_.has_fresh() && !keys_.has_fresh() && !texts_.has_fresh()) return;
    std::string text;
    pbf_writer data(text);
    categories_.WriteFresh(data);
    names_.WriteFresh(data);
    keys_.WriteFresh(data);
    texts_.WriteFresh(data);
    packet.add_message(packet_field::kInterned, text);
  }

  const trace::Node& NodeOf(const Slice& slice) const {
    const uint32_t rank = slices_.processes[slices_.tracks[slice.track].process].rank;
    return step_.traces.programs[step_.traces.program_of_rank[rank]].nodes[slice.node];
  }

  void Fill(const Slice& slice, pbf_writer& event) {
    const trace::Node& node = NodeOf(slice);
    const bool compute = slices_.tracks[slice.track].compute;
    const Facts& facts = FactsOf(node.block, node.name);
    event.add_uint64(event_field::kCategory, categories_.Of(compute ? "compute" : "communication"));
    event.add_uint64(event_field::kName, facts.name);
    for (const uint64_t flow : slice.flows) event.add_fixed64(event_field::kFlows, flow);
    if (slice.waited_for != 0) event.add_fixed64(event_field::kEnding, slice.waited_for);
    Integer("duration_ps", (slice.end - slice.start).value, event);
    Integer("start_ps", slice.start.value, event);
    Integer("block", node.block, event);
    if (facts.location != 0) Text("location", facts.location, event);
    Text("bound", facts.bound != 0 && compute ? facts.bound : texts_.Of(compute ? "none" : "network"), event);
    Integer("bytes", compute ? facts.bytes : node.size.value, event);
    if (compute) Integer("flops", facts.flops, event);
  }

  void Integer(std::string_view key, int64_t value, pbf_writer& event) {
    scratch_.clear();
    pbf_writer annotation(scratch_);
    annotation.add_uint64(annotation_field::kNameId, keys_.Of(key));
    annotation.add_int64(annotation_field::kInteger, value);
    event.add_message(event_field::kAnnotation, scratch_);
  }
  void Text(std::string_view key, uint64_t text, pbf_writer& event) {
    scratch_.clear();
    pbf_writer annotation(scratch_);
    annotation.add_uint64(annotation_field::kNameId, keys_.Of(key));
    annotation.add_uint64(annotation_field::kTextId, text);
    event.add_message(event_field::kAnnotation, scratch_);
  }

  // What slices of one block have in common; looked up once.
  struct Facts {
    uint64_t name = 0;
    uint64_t location = 0;
    uint64_t bound = 0;
    int64_t bytes = 0;
    int64_t flops = 0;
  };

  const Facts& FactsOf(uint32_t block, const std::string& node_name) {
    const auto [found, added] = facts_.try_emplace(block);
    Facts& facts = found->second;
    if (!added) return facts;
    if (block == trace::kNoBlock || step_.blocks.blocks[block].ops.empty()) {
      facts.name = names_.Of(node_name);
      return facts;
    }
    const ir::OpId op = step_.blocks.blocks[block].ops.back();
    facts.name = names_.Of(kernels_.Of(block));
    const uint32_t line = lines_.Line(module_.op(op).source);
    if (line > 0) facts.location = texts_.Of(fmt::format("{}:{}", module_.path(), line));
    if (const graph::Estimate* estimate = step_.estimates.Of(graph::BlockId(size_t{block}))) {
      facts.bound = texts_.Of(graph::BoundName(estimate->bound));
      facts.bytes = estimate->bytes.value;
      facts.flops = estimate->flops.value;
    }
    return facts;
  }

  void WriteCount(const Count& count) {
    text_.clear();
    pbf_writer event(text_);
    event.add_int32(event_field::kType, kCounter);
    event.add_uint64(event_field::kTrack, count.track);
    if (count.whole) {
      event.add_int64(event_field::kCounter, static_cast<int64_t>(count.value));
    } else {
      event.add_double(event_field::kDoubleCounter, count.value);
    }
    Packet([&](pbf_writer& packet) {
      packet.add_uint64(packet_field::kTimestamp, static_cast<uint64_t>(count.at.value / kNanosecond));
      packet.add_message(packet_field::kTrackEvent, text_);
    });
  }

  const StepView& step_;
  const std::optional<result::MemoryCurve>& memory_;
  const std::optional<PowerFigures>& power_;
  const ir::Module& module_;
  const LineIndex lines_;
  KernelNames kernels_;
  Slices slices_;
  std::vector<Event> events_;
  std::vector<Count> counts_;
  Interned categories_{interned_field::kCategories};
  Interned names_{interned_field::kEventNames};
  Interned keys_{interned_field::kAnnotationNames};
  Interned texts_{interned_field::kAnnotationTexts};
  std::map<uint32_t, Facts> facts_;
  std::string out_;
  std::string packet_;
  std::string text_;
  std::string scratch_;
};

}  // namespace

std::string PerfettoTrace(const StepView& step, const TimelineCounters& counters) {
  return Writer(step, counters).Write();
}

}  // namespace hespas::report
