// `hespas simulate`: network simulation of existing traces, with ASTRA-sim's own options.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/format.h"
#include "driver/network_run.h"
#include "report/simulation.h"

namespace hespas::cli {
namespace {

struct Options {
  driver::NetworkRunFiles files;
  simulate::SimulateOptions simulate;
  std::string format = "table";
  std::string backend = "analytical";
  std::string engine = "auto";
  bool details = false;
  std::string unused;  // accepted as ASTRA-sim accepts them
};

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(now - seconds).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03}", fmt::localtime(std::chrono::system_clock::to_time_t(now)), rest);
}

std::string Rendered(const driver::NetworkRun& run, const std::string& format) {
  if (format == "json") return report::SimulationJson(run.result);
  if (format == "astra-sim") return report::AstraSimLines(run.result, run.system, Now());
  const report::Table table = report::SimulationTable(run.result);
  if (format == "csv") return RenderTable(table, Format::kCsv);
  if (format == "md") return RenderTable(table, Format::kMarkdown);
  if (format == "jsonl") return RenderTable(table, Format::kJsonLines);
  return RenderTable(table, Format::kTable);
}

void Run(Options& options, Session& session) {
  options.simulate.backend =
      options.backend == "analytical-aware" ? simulate::Backend::kAware : simulate::Backend::kUnaware;
  options.simulate.engine = options.engine == "events"     ? simulate::Engine::kEvents
                            : options.engine == "symmetry" ? simulate::Engine::kSymmetry
                                                           : simulate::Engine::kAuto;
  options.simulate.record_nodes = options.simulate.record_links = options.details;
  const Result<driver::NetworkRun> run = driver::RunNetwork(options.files, options.simulate, session.diagnostics);
  const bool told = session.PrintDiagnostics();
  if (run) {
    Print(Rendered(*run, options.format));
  } else if (!told) {
    session.Fail(run.error());
  }
}

void AddFileOptions(CLI::App& command, Options& options) {
  driver::NetworkRunFiles& files = options.files;
  command.add_option("--workload-configuration", files.workload, "prefix P of the traces P.<npu>.et")->required();
  command.add_option("--system", files.system, "system preset, folder or JSON file, in place of the next three");
  command.add_option("--system-configuration", files.system_files.system, "system.json");
  command.add_option("--network-configuration", files.system_files.network, "network.yml");
  command.add_option("--remote-memory-configuration", files.system_files.remote_memory, "remote_memory.json");
  command.add_option("--comm-group-configuration", files.groups,
                     "comm_group.json; a path with \"empty\" in it means no groups");
  command.add_flag("--strict", files.strict, "unknown keys in the system's files are errors");
}

void AddEngineOptions(CLI::App& command, Options& options) {
  command.add_option("--network-backend", options.backend, "analytical (congestion-unaware) or analytical-aware")
      ->check(CLI::IsMember({"analytical", "analytical-aware"}));
  command.add_flag("--details", options.details,
                   "adds the traffic of links, exposed communication of each collective and the critical path to json");
  command.add_option("--engine", options.engine, "auto; events: every rank by itself; symmetry: one rank for all")
      ->check(CLI::IsMember({"auto", "events", "symmetry"}));
  command.add_option("--num-queues-per-dim", options.simulate.queues_per_dimension, "queues in each network dimension")
      ->check(CLI::Range(1, 1 << 16));
  command.add_option("--injection-scale", options.simulate.injection_scale, "factor on endpoint-delay");
  command.add_option("--rendezvous-protocol", options.simulate.rendezvous, "a control message before each message");
  for (const char* name : {"--logging-configuration", "--logging-folder", "--compute-scale", "--comm-scale"}) {
    command.add_option(name, options.unused, "accepted for ASTRA-sim's sake; without effect");
  }
}

}  // namespace

void AddSimulateCommand(CLI::App& app, Session& session) {
  CLI::App& command = AddCommand(app, session, "simulate", "simulates the network for existing traces",
                                 "hespas simulate --workload-configuration traces/dev --system A100_SXM_40GB_4GPU");
  auto options = std::make_shared<Options>();
  AddFileOptions(command, *options);
  AddEngineOptions(command, *options);
  command.add_option("--format", options->format, "what goes to stdout; astra-sim: the lines that ASTRA-sim prints")
      ->check(CLI::IsMember({"table", "json", "jsonl", "csv", "md", "astra-sim"}));
  command.callback([options, &session] { Run(*options, session); });
}

}  // namespace hespas::cli
