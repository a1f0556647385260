// hespas_pjrt_worker: compiles and times programs with a PJRT plugin, one JSON line a request (the estimator `pjrt`
// starts it). A process of its own: a plugin that crashes, hangs or takes all memory ends it, and nothing else.
//
//   {"ready": true, "api": "0.115", "platform": ..., "version": ..., "device": ..., "devices": 4, "overhead_s": 5e-6}
//   > {"id": 1, "do": "compile", "program": PATH, "arguments": [{"element": "f32", "shape": [2, 3]}]}
//   < {"id": 1, "ok": true}
//   > {"id": 2, "do": "time", "program": PATH, ..., "limit_s": 2, "cold": false}
//   < {"id": 2, "ok": true, "seconds": 1.5e-4, "half_width_s": 2e-6, "repeats": 12, "overhead_s": 6e-6}
//
// `time` compiles what is not compiled yet, and forgets it afterwards (not with "keep": true). `overhead_s` is what
// starting a program with as many arguments and results costs (in the greeting: one of each); it is part of `seconds`,
// shared by the runs that were started in a row. `host_share`, of accelerators: the part of the time in which the host
// was starting them.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/system/file.h"
#include "base/text/json.h"
#include "pjrt/session.h"

namespace {

using hespas::Result;
using nlohmann::json;
namespace pjrt = hespas::pjrt;

constexpr int kOutOfMemory = 9;

int answers = STDOUT_FILENO;
std::atomic<int64_t> current{0};

void Answer(const json& object) {
  const std::string line = hespas::AsciiJsonText(object) + "\n";
  for (size_t at = 0; at < line.size();) {
    const ssize_t done = write(answers, line.data() + at, line.size() - at);
    if (done <= 0) _exit(1);
    at += static_cast<size_t>(done);
  }
}

json Refusal(const hespas::Error& error) { return {{"ok", false}, {"message", error.message}}; }

// Ends the process before the system's memory does.
void WatchMemory(int64_t most_bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  while (true) {
    int64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    if (resident * page > most_bytes) {
      Answer({{"id", current.load()},
              {"ok", false},
              {"fatal", true},
              {"message", "it took more than " + std::to_string(most_bytes >> 20) + " MiB of memory"}});
      _exit(kOutOfMemory);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

class Requests {
 public:
  Requests(pjrt::Session session, pjrt::Overhead overhead) : session_(std::move(session)), overhead_(overhead) {}

  json Serve(const json& request) {
    const std::string path = request.at("program");
    auto found = compiled_.find(path);
    if (found == compiled_.end()) {
      auto made = Compile(path, request);
      if (!made) return Refusal(made.error());
      found = compiled_.emplace(path, *std::move(made)).first;
    }
    if (request.at("do") == "compile") return {{"ok", true}};
    const pjrt::Effort effort{.limit_s = request.value("limit_s", 2.0)};
    const auto timing = session_.Time(*found->second, effort, request.value("cold", false));
    const size_t results = pjrt::Session::ResultCount(*found->second);
    if (!request.value("keep", false)) compiled_.erase(found);
    if (!timing) return Refusal(timing.error());
    return {{"ok", true},
            {"seconds", timing->seconds},
            {"half_width_s", timing->half_width},
            {"repeats", timing->repeats},
            {"overhead_s", overhead_.Of(request.at("arguments").size(), results) / timing->in_a_row},
            {"host_share", timing->host_share}};
  }

 private:
  Result<std::shared_ptr<pjrt::Executable>> Compile(const std::string& path, const json& request) const {
    auto code = hespas::ReadRaw(path);
    if (!code) return code.error();
    pjrt::Program program{.code = *std::move(code)};
    for (const json& argument : request.at("arguments")) {
      program.arguments.push_back({.element = argument.at("element"), .shape = argument.at("shape")});
    }
    program.spread = {.replicas = request.value("replicas", 1), .partitions = request.value("partitions", 1)};
    return session_.Compile(program);
  }

  pjrt::Session session_;
  pjrt::Overhead overhead_;
  std::map<std::string, std::shared_ptr<pjrt::Executable>> compiled_;
};

// What the plugin prints must not stand among the answers.
void KeepAnswersApart() {
  answers = dup(STDOUT_FILENO);
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(nothing, STDOUT_FILENO);
}

// Freed memory stays with the process. Otherwise a block would wait for fresh pages for each large result, which the
// whole program, with its results in memory that it has, does not.
void KeepMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_ARENA_MAX, 1);
}

int Run(const std::string& plugin, pjrt::Clock clock) {
  auto session = pjrt::Session::Open(plugin, clock);
  const auto overhead = session ? session->MeasureOverhead() : Result<pjrt::Overhead>(session.error());
  if (!overhead) {
    Answer({{"ready", false}, {"code", overhead.error().kind->code}, {"message", overhead.error().message}});
    return 1;
  }
  const pjrt::Platform& platform = session->platform();
  Answer({{"ready", true},
          {"api", session->plugin().version()},
          {"platform", platform.name},
          {"version", platform.version},
          {"device", platform.device},
          {"devices", platform.devices},
          {"overhead_s", overhead->Of(1, 1)}});
  Requests requests(*std::move(session), *overhead);
  for (std::string line; std::getline(std::cin, line);) {
    const json request = hespas::ReadJson(line);
    json answer;
    try {
      current = request.at("id").get<int64_t>();
      answer = requests.Serve(request);
    } catch (const json::exception& error) {
      answer = {{"ok", false}, {"message", error.what()}};
    }
    answer["id"] = current.load();
    Answer(answer);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("compiles and times programs with a PJRT plugin, one JSON line a request on stdin");
  std::string plugin;
  int64_t most_bytes = int64_t{1} << 62;
  bool cpu_clock = false;
  app.add_option("--plugin", plugin, "shared library with GetPjrtApi")->required();
  app.add_option("--memory", most_bytes, "bytes of memory that the process may take");
  app.add_flag("--cpu-clock", cpu_clock, "report processor time instead of elapsed time");
  CLI11_PARSE(app, argc, argv);
  KeepMemory();
  KeepAnswersApart();
  std::thread(WatchMemory, most_bytes).detach();
  const int status = Run(plugin, cpu_clock ? pjrt::Clock::kCpu : pjrt::Clock::kWall);
  std::cout.flush();
  _exit(status);  // plugins' threads do not all survive the destructors of static objects
}
