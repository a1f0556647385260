// `hespas serve`: what clients of an inference server see, from a model, a device, a network and a load.
#include <memory>

#include "base/text/unit_text.h"
#include "cli/format.h"
#include "cli/options/pipeline_options.h"
#include "cli/options/request_options.h"
#include "cli/options/step_table.h"
#include "driver/serving/search/search.h"

namespace hespas::cli {
namespace {

struct ServeCommand {
  driver::ServeOptions options;
  std::string rate;
  std::string link;
  std::string output;
  std::string step_table;
  StepPrograms programs;
  bool search = false;
  bool explain = false;
  Format format = Format::kTable;
};

void AddHardware(CLI::App& command, driver::ServeOptions& o) {
  o.device.name.clear();
  command.add_option("MODEL", o.model, "a ready name (llama3-8b, llama3-70b, ...) or a Hugging Face config.json");
  command.add_option("--device", o.device.name, "device: a preset (`hespas devices`) or a file");
  command.add_option("--devices", o.devices, "how many serve");
  command.add_option("--system", o.system, "network: a preset (`hespas systems`), a file or a line");
  command.add_option("--set", o.changes, "change a figure of the device or network: device.memory_bandwidth=2x");
  command.add_option("--tp", o.tensor, "tensor parallel; by default what the others leave of --devices");
  command.add_option("--pp", o.pipeline, "pipeline stages");
  command.add_option("--ep", o.expert, "devices that split the experts");
  command.add_option("--dp", o.data, "replicas behind a router; with experts, ranks of attention in lock step");
  command.add_option("--weights", o.weights, "bf16, fp8, fp8-block, nvfp4, mxfp4, int4 or int8; else the checkpoint's");
  command.add_option("--kv", o.cache, "type of the cache: auto, bf16, fp8, int8 or nvfp4");
}

void AddLoad(CLI::App& command, ServeCommand& c) {
  serve::Load& load = c.options.load;
  command.add_option(
      "--isl", load.input,
      "tokens of a prompt: a number, uniform:A:B, exponential:MEAN, geometric:MEAN, lognormal:MEAN:CV or "
      "file:CSV");
  command.add_option("--osl", load.output, "tokens of an answer, in the same form");
  command.add_option("--concurrency", load.clients, "clients that send the next request when one is answered");
  command.add_option("--rate", c.rate, "requests a second; inf: all at once");
  command.add_option("--arrivals", load.arrivals, "of --rate: poisson, regular or gamma:SHAPE");
  command.add_flag("--overload", c.options.overload,
                   "simulate a rate above the server's capacity, too: its queue grows for as long as requests come");
  command.add_option("--trace", load.trace, "requests of a file: Azure's, BurstGPT's, Mooncake's or arrival_s columns");
  command.add_option("--trace-run", load.trace_run, "of a trace with several runs");
  AddRequestOptions(command, load.requests, c.options.warm_up, load.seed, "; by default 10 for each client, or 1,000");
}

void AddEngine(CLI::App& command, ServeCommand& c) {
  driver::ServeOptions& o = c.options;
  command.add_option("--engine", o.engine,
                     "profile: vllm, vllm-0.7, trtllm, trtllm-0.11, trtllm-0.5, sglang or a file");
  command.add_option("--scheduler", o.scheduler,
                     "static, continuous, vllm, trtllm, sglang and variants; else the engine's");
  command.add_option(
      "--max-batched-tokens", o.max_tokens,
      "tokens of a step: of each data-parallel rank of experts with vllm and trtllm, of all together with others");
  command.add_option("--context", o.context, "tokens of the longest request, instead of the model's")
      ->check(Positive());
  command.add_option("--scheduler-steps", o.scheduler_steps, "steps for each time that the host schedules");
  command.add_flag("--in-process", o.in_process, "clients call the engine: no HTTP, no tokenising");
  command.add_option("--max-requests", o.max_requests,
                     "requests that run at a time, of each rank or of all as --max-batched-tokens");
  command.add_option("--memory-fraction", o.memory_fraction, "share of the memory, as the engine counts it");
  command.add_option("--block", o.block, "tokens of a block of the cache");
  command.add_option("--kv-blocks", o.cache_blocks, "blocks of a replica, instead of what memory leaves")
      ->check(Positive());
  command.add_option("--admission", o.admission, "blocks that a request must find")
      ->check(OneOf({"needed", "reserve"}));
  command.add_option("--preemption", o.preemption, "of the youngest request where no block is left")
      ->check(OneOf({"recompute", "swap", "none"}));
  command.add_option("--prefix-hit", o.prefix_hit, "share of each prompt that is cached");
  command.add_option("--speculative", o.speculative, "K:A, drafts a step and the probability that one is right");
  command.add_option("--disaggregate", o.disaggregate, "P:D, engines for prompts and for tokens");
  command.add_option("--link", c.link, "bandwidth between those, such as \"50 GB/s\"; else the network's");
  command.add_option("--step-model", o.step_model, "seconds of a step: a=..,b=..,c=..,p=.. instead of a device's");
  command.add_option("--step-table", c.step_table,
                     "CSV of your own steps: phase, batch, context, and seconds or the program that takes them, with "
                     "its sizes (bind: \"b=8 s=1024\")");
  command.add_option("--prefill", c.programs.prefill,
                     "programs of your own steps with prompts and tokens of each, instead of such a table: "
                     "PROGRAM:BATCH:TOKENS; behind them sizes of symbolic dimensions (:\"b=1 s=1024\")");
  command.add_option("--decode", c.programs.decode, "the same of decodes: PROGRAM:BATCH:CONTEXT");
}

bool ReadRates(ServeCommand& c, Console& console) {
  const auto read = [&](const std::string& option, const std::string& text, Unit unit, std::optional<double>& value,
                        const char* help) {
    if (text.empty()) return true;
    const auto parsed =
        text == "inf" ? Result<double>(std::numeric_limits<double>::infinity()) : ParseQuantity(text, unit);
    if (parsed && *parsed > 0) return value = *parsed, true;
    console.Fail(MakeError(driver::kBadServe, option + ": `" + text + "` is no rate above 0", {}, help));
    return false;
  };
  return read("--rate", c.rate, Unit::kNumber, c.options.load.rate,
              "requests a second, for example --rate 5; --rate inf sends all at once") &&
         read("--link", c.link, Unit::kBytesPerSecond, c.options.link, "for example --link \"50 GB/s\"");
}

// Programs of the table run on the devices that serve.
bool ReadSteps(ServeCommand& c, Console& console) {
  if (c.step_table.empty() && c.programs.empty()) return true;
  if (!c.step_table.empty() && !c.programs.empty())
    return console.Fail(MakeError(driver::kBadServe, "--step-table and --prefill or --decode both give step times", {},
                                  "leave the table or the programs out")),
           false;
  driver::RunOptions run;
  run.device = c.options.device;
  run.changes = c.options.changes;
  if (!c.options.system.empty()) run.system.name = c.options.system;
  c.options.step_table = c.programs.empty() ? ReadStepTable(c.step_table, run, console.diagnostics)
                                            : ReadStepPrograms(c.programs, run, console.diagnostics);
  return !console.PrintDiagnostics() && c.options.step_table;
}

report::Table AsTable(const driver::ServeAnswer& answer) {
  report::Table table{.columns = {{"figure"}, {"value", report::Align::kRight}}, .rows = {}};
  for (const auto& [name, value] : driver::ToRows(answer)) table.rows.push_back({name, value});
  return table;
}

void RunServe(ServeCommand& c, Console& console) {
  c.options.record = !c.output.empty();
  const auto answer = driver::Serve(c.options, console.diagnostics);
  if (console.PrintDiagnostics() || !answer) return;
  if (!c.output.empty()) {
    if (const Status written = driver::WriteServeFolder(*answer, c.output); !written)
      return console.Fail(written.error());
  }
  if (c.format == Format::kJson) return Print(driver::ToJson(*answer));
  Print(RenderTable(AsTable(*answer), c.format));
  if (c.explain) Print("\n" + RenderTable(driver::ExplainTable(*answer), c.format));
}

void RunSearch(const ServeCommand& c, Console& console) {
  const auto answer = driver::Search(c.options, console.diagnostics);
  if (console.PrintDiagnostics() || !answer) return;
  if (!c.output.empty()) {
    if (const Status written = driver::WriteSearchFolder(*answer, c.options, c.output); !written)
      return console.Fail(written.error());
  }
  Print(c.format == Format::kJson ? driver::ToJson(*answer, c.options)
                                  : RenderTable(driver::SearchTable(*answer), c.format));
}

}  // namespace

void AddServeCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "serve", "latency, throughput, memory and cost of an inference server",
                 "hespas serve llama3-8b --device H100_80GB --devices 1 --isl 1024 --osl 1024 --concurrency 64");
  auto c = std::make_shared<ServeCommand>();
  AddHardware(command, c->options);
  AddLoad(command, *c);
  AddEngine(command, *c);
  command.add_option("--slo", c->options.slo, "limits of a good answer: ttft=2s,tpot=50ms");
  AddPriceOption(command, c->options.price);
  command.add_flag("--explain", c->explain, "also the kernels of a decode step at the run's mean batch, longest first");
  command.add_flag("--require-fit", c->options.require_fit, "a model that does not fit is an error");
  command.add_flag("--search", c->search,
                   "try all layouts of the devices (--device and --weights may be lists) under --slo or over loads");
  command.add_option(
      "--output", c->output,
      "folder for serve.json, requests.csv, timeline.csv and report.html; of a search search.json and report.html");
  AddFormatOption(command, c->format);
  command.callback([c, &console] {
    c->options.command_line = console.command_line;
    if (!ReadRates(*c, console) || !ReadSteps(*c, console)) return;
    c->search ? RunSearch(*c, console) : RunServe(*c, console);
  });
}

}  // namespace hespas::cli
