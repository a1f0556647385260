#include "driver/serving/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "driver/serving/overload.h"
#include "driver/serving/server.h"

namespace hespas::driver {
namespace {

// Requests that the model or the cache can never hold.
bool RefuseLong(const Server& server, std::optional<int64_t> limit, serve::Workload& workload,
                Diagnostics& diagnostics) {
  const int64_t context = server.model ? limit.value_or(server.model->context) : 0;
  const serve::Policy& policy = server.engine.policy;
  const int64_t cache = policy.blocks * policy.block;
  const auto too_long = [&](int64_t tokens) { return context > 0 && tokens > context; };
  const size_t before = workload.requests.size();
  const int64_t longest = workload.Longest();
  std::erase_if(workload.requests, [&](const serve::Request& r) {
    const int64_t tokens = r.input + r.output;
    return too_long(tokens) || (cache > 0 && policy.window.Kept(tokens) > cache);
  });
  const size_t refused = before - workload.requests.size();
  if (refused == 0) return true;
  const bool model = too_long(longest);
  const std::string what =
      model ? fmt::format("the model attends to {}", context) : fmt::format("the cache holds {}", cache);
  if (workload.requests.empty()) {
    diagnostics.Error(kPromptTooLong, fmt::format("requests of {} tokens: {}", longest, what), {},
                      model ? "shorten --isl and --osl, or --context where the model is stretched"
                            : "more devices, or fewer bytes of weights");
    return false;
  }
  diagnostics.Warning(kRequestsRefused, fmt::format("{} of {} requests are refused: {} tokens", refused, before, what));
  return true;
}

struct Means {
  double input = 0;
  double output = 0;
};

Means MeansOf(const serve::Workload& workload) {
  Means means;
  const auto count = static_cast<double>(std::max<size_t>(workload.requests.size(), 1));
  for (const serve::Request& request : workload.requests) {
    means.input += static_cast<double>(request.input) / count;
    means.output += static_cast<double>(request.output) / count;
  }
  return means;
}

double PromptSeconds(const Server& server, double tokens) {
  double seconds = 0;
  const auto budget = static_cast<double>(server.engine.policy.max_tokens);
  for (double done = 0; done < tokens;) {
    const double chunk = std::min(budget, tokens - done);
    serve::StepShape step{.prompt_tokens = chunk, .prompt_requests = 1};
    step.prompt_context = done + chunk;
    step.prompt_pairs = chunk * (done + (chunk + 1) / 2);
    done += chunk;
    step.prompt_ends = done >= tokens ? 1 : 0;
    seconds += server.steps->CostOf(step).seconds;
  }
  return seconds;
}

void FillSteps(const Server& server, const Means& means, ServeAnswer& answer) {
  const double batch = std::max(answer.figures.mean_batch, 1.0);
  const double rows = batch * static_cast<double>(1 + server.engine.policy.speculation.drafts);
  const serve::StepShape decode{
      .decode_requests = batch, .decode_rows = rows, .decode_context = batch * (means.input + means.output / 2)};
  answer.decode_s = server.steps->CostOf(decode).seconds;
  answer.decode_kernels = server.steps->KernelsOf(decode);
  answer.prefill_s = PromptSeconds(server, means.input);
}

void FillConcurrency(const Server& server, const Means& means, ServeAnswer& answer) {
  if (!server.memory || !server.memory->fits) return;
  const auto tokens = static_cast<double>(server.engine.policy.blocks * server.engine.policy.block) *
                      static_cast<double>(server.layout.decode > 0 ? server.layout.decode : server.layout.replicas);
  const auto of = [&](double length) {
    const auto kept = server.engine.policy.window.Kept(std::llround(std::max(length, 1.0)));
    return std::floor(tokens / static_cast<double>(kept));
  };
  answer.max_concurrency = of(means.input + means.output);
  answer.max_concurrency_optimistic = of(means.input + means.output / 2);
}

// Relative. Errors of kernels of one part have one direction; the engine's remains are what its measured rows leave.
void FillSigma(const Server& server, const serve::Run& run, ServeAnswer& answer) {
  if (!server.prices) return;
  double all = 0;
  for (const double part : run.counts.parts) all += part;
  if (all <= 0) return;
  const serve::EngineErrors& engine = server.engine.errors;
  double variance = engine.step * engine.step;
  for (size_t i = 0; i < serve::kParts; ++i)
    variance += std::pow(server.prices->sigma(static_cast<serve::Part>(i)) * run.counts.parts[i] / all, 2);
  answer.sigma_tpot = std::sqrt(variance);
  answer.sigma_ttft = std::hypot(*answer.sigma_tpot, engine.first_token);
}

void FillCost(const Server& server, const ServeOptions& options, ServeAnswer& answer) {
  std::optional<Price> price = options.price;
  if (!price && server.device) price = server.device->price;
  if (!price || answer.figures.tokens_per_s <= 0) return;
  constexpr double kMillion = 1e6;
  answer.cost = CostOf(*price, static_cast<double>(options.devices) * kMillion / answer.figures.tokens_per_s);
  answer.currency = price->currency;
}

// A rate, to three digits, that no queue grows at: found by trying, from the capacity on. 0 where none is.
double RateBelow(const Server& server, ServeOptions options, double capacity) {
  options.overload = true;
  options.record = false;
  constexpr double kLower = 0.95;
  double rate = capacity;
  for (int tries = 0; tries < 10; ++tries, rate *= kLower) {
    const double digit = std::pow(10, std::floor(std::log10(rate)) - 2);
    options.load.rate = rate = std::floor(rate / digit) * digit;
    Diagnostics ignored;  // said of the rate that was asked for
    const auto found = ServeLoad(server, options, ignored);
    if (found && !Overloaded(found->warnings)) return rate;
  }
  return 0;
}

// 1000, not 1e+03.
std::string ThreeDigits(double number) {
  return fmt::format("{:g}", std::strtod(fmt::format("{:.3g}", number).c_str(), nullptr));
}

// False where a queue grows: of a trace and with --overload that is a warning.
bool CheckRate(const Server& server, const ServeOptions& options, const serve::Workload& workload,
               const serve::Run& run, Diagnostics& diagnostics) {
  auto overload = OverloadOf(workload, run, options.load.rate);
  if (!overload && options.load.rate && !workload.clients && !options.give_up)
    overload = BeyondSteps(server, workload, run, *options.load.rate);
  if (!overload) return true;
  const std::string message =
      fmt::format("{} requests/s arrive; the server answers {}{}", ThreeDigits(overload->arrive_per_s),
                  overload->at_most ? "at most " : "", ThreeDigits(overload->answered_per_s));
  const bool wanted = options.overload || !options.load.rate;
  if (wanted) return diagnostics.Warning(kOverload, message, {}, "take more devices, or a lower rate"), true;
  const double rate = RateBelow(server, options, overload->answered_per_s);
  const std::string take = rate > 0 ? fmt::format("take --rate {} or less", ThreeDigits(rate)) : "take a lower --rate";
  diagnostics.Error(kAboveCapacity, message, {}, take + ", or more devices; --overload simulates it anyhow");
  return false;
}

// More requests than lie above an interpolated 99th percentile, and those of the warm-up, which it does not count.
serve::Patience PatienceOf(const serve::Slo& slo, size_t requests, int64_t warm_up) {
  const double above = 0.01 * static_cast<double>(requests);
  return {.ttft_s = slo.ttft_s.value_or(serve::kNever),
          .tpot_s = slo.tpot_s.value_or(serve::kNever),
          .e2e_s = slo.e2e_s.value_or(serve::kNever),
          .misses = static_cast<int64_t>(std::ceil(above)) + 1 + warm_up};
}

}  // namespace

std::optional<ServeAnswer> ServeLoad(const Server& server, const ServeOptions& options, Diagnostics& diagnostics) {
  const auto slo = ResolveSlo(options.slo, diagnostics);
  if (!slo) return std::nullopt;
  auto workload = serve::MakeWorkload(options.load);
  if (!workload) return diagnostics.Report(workload.error()), std::nullopt;
  if (options.warm_up < 0 || options.warm_up >= static_cast<int64_t>(workload->requests.size())) {
    diagnostics.Error(kBadServe, "--warm-up leaves no request", {}, "fewer than --requests, and at least 0");
    return std::nullopt;
  }
  if (!RefuseLong(server, options.context, *workload, diagnostics)) return std::nullopt;
  serve::ServerOptions simulated{.policy = server.engine.policy,
                                 .steps = server.steps.get(),
                                 .replicas = server.layout.replicas,
                                 .disaggregation = {.prefill = server.layout.prefill,
                                                    .decode = server.layout.decode,
                                                    .transfer_s_per_token = server.transfer_s_per_token},
                                 .seed = options.load.seed,
                                 .record = options.record};
  if (options.give_up) simulated.patience = PatienceOf(*slo, workload->requests.size(), options.warm_up);
  auto run = serve::Simulate(*workload, simulated);
  if (!run) return diagnostics.Report(run.error()), std::nullopt;
  if (run->given_up) return std::nullopt;
  ServeAnswer answer{.model = server.model ? server.model->name : "",
                     .device = server.device ? server.device->name : "",
                     .system = server.system ? server.system->name : "",
                     .devices = options.devices,
                     .parallelism = server.layout.parallelism,
                     .weights = std::string(serve::FactsOf(server.precision.weights).name),
                     .cache = std::string(server.precision.cache_facts().name),
                     .activations = server.prices ? std::string(server.prices->activations()) : "",
                     .engine = server.engine.name,
                     .engine_version = server.engine.version};
  if (options.give_up) run->gaps.clear();  // searches ask for neither latencies between tokens nor kernels
  answer.figures = serve::FiguresOf(*run, *workload, options.warm_up, *slo, server.engines());
  answer.memory = server.memory;
  answer.goodput = !options.slo.empty();
  const Means means = MeansOf(*workload);
  if (!options.give_up) FillSteps(server, means, answer);
  FillConcurrency(server, means, answer);
  FillCost(server, options, answer);
  FillSigma(server, *run, answer);
  if (!CheckRate(server, options, *workload, *run, diagnostics)) return std::nullopt;
  const auto* const table = dynamic_cast<const serve::TableStepModel*>(server.steps.get());
  if (table && table->beyond()) {
    diagnostics.Warning(serve::kBeyondStepTable, "batches or contexts go beyond the table of step times", {},
                        "add rows of the largest batch and of the longest prompt and output together");
  }
  answer.run = *std::move(run);
  answer.workload = *std::move(workload);
  answer.command_line = options.command_line;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) answer.warnings.push_back(diagnostic);
  }
  return answer;
}

std::optional<ServeAnswer> Serve(const ServeOptions& options, Diagnostics& diagnostics) {
  const auto server = MakeServer(options, diagnostics);
  return server ? ServeLoad(*server, options, diagnostics) : std::nullopt;
}

}  // namespace hespas::driver
