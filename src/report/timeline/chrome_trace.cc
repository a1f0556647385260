#include <fmt/format.h>

#include "report/step/kernel_name.h"
#include "report/text/json_quote.h"
#include "report/timeline/perfetto.h"
#include "report/timeline/slices.h"

namespace hespas::report {
namespace {

// Microseconds with all digits of the picoseconds.
std::string Microseconds(Time time) { return fmt::format("{}.{:06}", time.value / 1'000'000, time.value % 1'000'000); }

}  // namespace

std::string ChromeTrace(const StepView& step, const TimelineCounters& counters) {
  const Slices slices = MakeSlices(step);
  std::string out;
  const auto add = [&out](const std::string& event) { out += (out.empty() ? "\n" : ",\n") + event; };
  for (size_t i = 0; i < slices.processes.size(); ++i) {
    add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", i + 1,
                    QuotedJson(slices.processes[i].name)));
  }
  for (size_t i = 0; i < slices.tracks.size(); ++i) {
    add(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    slices.tracks[i].process + 1, i + 1, QuotedJson(slices.tracks[i].name)));
  }
  KernelNames kernels(step);
  for (const Slice& slice : slices.slices) {
    const Track& track = slices.tracks[slice.track];
    const uint32_t rank = slices.processes[track.process].rank;
    const trace::Node& node = step.traces.programs[step.traces.program_of_rank[rank]].nodes[slice.node];
    const Time duration = slice.end - slice.start;
    const std::string name = node.block < step.blocks.blocks.size() ? kernels.Of(node.block) : std::string();
    const std::string place = fmt::format(R"("pid":{},"tid":{})", track.process + 1, slice.track + 1);
    add(fmt::format(R"({{"ph":"X","name":{},"cat":"{}",{},"ts":{},"dur":{},"args":{{"duration_ps":{},"block":{}}}}})",
                    QuotedJson(name.empty() ? node.name : name), track.compute ? "compute" : "communication", place,
                    Microseconds(slice.start), Microseconds(duration), duration.value, node.block));
    for (const uint64_t flow : slice.flows) {
      add(fmt::format(R"({{"ph":"s","id":{},"name":"unblocks","cat":"flow",{},"ts":{}}})", flow, place,
                      Microseconds(slice.start)));
    }
    if (slice.waited_for == 0) continue;
    add(fmt::format(R"({{"ph":"f","bp":"e","id":{},"name":"unblocks","cat":"flow",{},"ts":{}}})", slice.waited_for,
                    place, Microseconds(slice.start)));
  }
  const auto count = [&](const char* name, size_t process, Time at, const std::string& value) {
    add(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{{}}}}})", name, process + 1, Microseconds(at),
                    value));
  };
  if (counters.memory) {
    for (const result::MemoryPoint& point : counters.memory->points) {
      for (size_t i = 0; i < slices.processes.size(); ++i)
        count("memory", i, point.start, fmt::format("\"bytes\":{}", point.total().value));
    }
  }
  if (counters.power) {
    for (const PowerPoint& point : PowerPoints(step, slices, *counters.power))
      count("power", point.process, point.start, fmt::format("\"watts\":{}", point.watts));
  }
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + out + "\n]}\n";
}

}  // namespace hespas::report
