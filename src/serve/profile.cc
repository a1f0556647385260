#include "serve/profile.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json_text.h"
#include "base/text/suggest.h"

namespace hespas::serve {
namespace {

constexpr int64_t kMost = 10'000'000;

void ReadLimits(JsonObject& json, EngineProfile& engine) {
  engine.policy.max_tokens = json.Integer("max_batched_tokens", 1, kMost).value_or(engine.policy.max_tokens);
  engine.policy.max_requests = json.Integer("max_requests", 1, kMost).value_or(engine.policy.max_requests);
  engine.limits_of_rank = json.Flag("limits_of_rank").value_or(false);
  engine.policy.block = json.Integer("block", 1, kMost).value_or(engine.policy.block);
  engine.policy.output_ratio = json.Quantity("output_ratio", Unit::kNumber).value_or(engine.policy.output_ratio);
  auto large = json.Object("large_memory");
  if (!large) return;
  engine.large_memory_bytes = large->Quantity("from", Unit::kBytes, true).value_or(0);
  engine.large_max_tokens = large->Integer("max_batched_tokens", 1, kMost).value_or(engine.policy.max_tokens);
  engine.large_max_requests = large->Integer("max_requests", 1, kMost).value_or(engine.policy.max_requests);
  large->Finish();
}

void ReadMemory(JsonObject& json, EngineProfile& engine) {
  auto memory = json.Object("memory");
  if (!memory) return;
  engine.memory_fraction = memory->Quantity("fraction", Unit::kNumber, true).value_or(engine.memory_fraction);
  engine.reserved_bytes = memory->Quantity("reserved", Unit::kBytes).value_or(0);
  memory->Text("source");
  engine.rotation_bytes = memory->Quantity("rotation_element", Unit::kBytes).value_or(0);
  const auto rule = memory->Text("of");
  if (rule && *rule != "total" && *rule != "static" && *rule != "left")
    memory->Report(kJsonBadValue, "of", fmt::format("`{}` is none of total, static and left", *rule));
  engine.fp8_cache_of_quantised = memory->Flag("fp8_cache_of_quantised").value_or(false);
  engine.windows = memory->Flag("windows").value_or(false);
  engine.eager = memory->Flag("eager").value_or(false);
  if (rule && *rule == "static") engine.memory_rule = MemoryRule::kStatic;
  if (rule && *rule == "left") engine.memory_rule = MemoryRule::kLeft;
  memory->Finish();
}

void ReadGraphs(JsonObject& json, Graphs& graphs) {
  auto object = json.Object("graphs");
  if (!object) return;
  object->Text("source");
  graphs.mixed = object->Flag("mixed").value_or(false);
  const nlohmann::json* sizes = object->Raw("sizes");
  for (const nlohmann::json& size : sizes != nullptr ? *sizes : nlohmann::json::array()) {
    const double rows = size.is_number() ? size.get<double>() : 0;
    if (rows < 1 || (!graphs.sizes.empty() && rows <= graphs.sizes.back()))
      return object->Report(kJsonBadValue, "sizes", "captured sizes are numbers from 1 on, ascending");
    graphs.sizes.push_back(rows);
  }
  object->Finish();
}

void ReadHost(JsonObject& json, EngineProfile& engine) {
  auto host = json.Object("host");
  if (!host) return;
  Overheads& overheads = engine.policy.overheads;
  engine.graphs.layer_s = host->Quantity("layer", Unit::kSeconds).value_or(0);
  overheads.step_s = host->Quantity("step", Unit::kSeconds).value_or(0);
  overheads.request_s = host->Quantity("request_of_step", Unit::kSeconds).value_or(0);
  overheads.ingress_s = host->Quantity("ingress", Unit::kSeconds).value_or(0);
  overheads.token_s = host->Quantity("token", Unit::kSeconds).value_or(0);
  overheads.asynchronous = host->Flag("asynchronous").value_or(false);
  host->Text("source");
  host->Finish();
}

void ReadAllReduces(JsonObject& json, AllReduces& reduces) {
  auto object = json.Object("all_reduces");
  if (!object) return;
  object->Text("source");
  reduces.own = true;
  reduces.pairs_on_pcie = object->Flag("pairs_on_pcie").value_or(false);
  reduces.largest = object->Quantity("largest", Unit::kBytes, true).value_or(0);
  reduces.largest_of_pair = object->Quantity("largest_of_pair", Unit::kBytes).value_or(reduces.largest);
  reduces.two_shot = object->Quantity("two_shot", Unit::kBytes);
  reduces.two_shot_of_four = object->Quantity("two_shot_of_four", Unit::kBytes);
  if (!reduces.two_shot_of_four) reduces.two_shot_of_four = reduces.two_shot;
  object->Finish();
}

void ReadErrors(JsonObject& json, EngineErrors& errors) {
  auto object = json.Object("sigma");
  if (!object) return;
  object->Text("source");
  errors.step = object->Quantity("step", Unit::kNumber).value_or(0);
  errors.first_token = object->Quantity("first_token", Unit::kNumber).value_or(0);
  object->Finish();
}

void ReadScheduler(JsonObject& json, EngineProfile& engine) {
  const auto name = json.Text("scheduler");
  const Scheduler* scheduler = FindScheduler(name.value_or("vllm"));
  if (scheduler) {
    engine.policy.scheduler = *scheduler;
  } else {
    json.Report(kJsonBadValue, "scheduler", fmt::format("`{}` is no scheduler", *name));
  }
}

void ReadExchange(JsonObject& json, EngineProfile& engine) {
  const auto name = json.Text("exchange");
  if (!name || *name == "chosen") return;
  if (*name != "gather" && *name != "gather-quantised")
    return json.Report(kJsonBadValue, "exchange", fmt::format("`{}` is not chosen, gather or gather-quantised", *name));
  engine.exchange = *name == "gather" ? Exchange::kGather : Exchange::kGatherQuantised;
}

}  // namespace

std::optional<EngineProfile> LoadEngine(const std::string& name_or_path, const std::string& folder,
                                        Diagnostics& diagnostics) {
  const bool path = name_or_path.ends_with(".json") || name_or_path.find('/') != std::string::npos;
  const std::string file = path ? name_or_path : folder + "/" + name_or_path + ".json";
  if (!path && !std::filesystem::exists(file)) {
    const std::vector<std::string> known = {"vllm", "vllm-0.7", "trtllm", "trtllm-0.11", "trtllm-0.5", "sglang"};
    std::string help = DidYouMean(name_or_path, known);
    if (help.empty()) help = fmt::format("known: {}", fmt::join(known, ", "));
    diagnostics.Error(kUnknownEngine, fmt::format("there is no engine `{}`", name_or_path), {}, help);
    return std::nullopt;
  }
  const auto text = ReadInput(file);
  const auto parsed = text ? ParseJson(*text, file) : Result<nlohmann::json>(text.error());
  if (!parsed) {
    diagnostics.Report(parsed.error());
    return std::nullopt;
  }
  const size_t before = diagnostics.error_count();
  const JsonSource source{.text = *text, .file = file, .diagnostics = &diagnostics};
  JsonObject json(source, *parsed);
  EngineProfile engine{.name = json.Text("name").value_or(name_or_path),
                       .version = json.Text("version").value_or(""),
                       .source = json.Text("source").value_or("")};
  json.Integer("schema_version", 1, 1);
  engine.rotating_attention = json.Flag("rotating_attention").value_or(false);
  engine.ungrouped_attention = json.Flag("ungrouped_attention").value_or(false);
  engine.gate_apart = json.Flag("gate_apart").value_or(false);
  engine.fp8_prompts = json.Flag("fp8_prompts").value_or(false);
  engine.quantises_apart = json.Flag("quantises_apart").value_or(false);
  ReadScheduler(json, engine);
  ReadExchange(json, engine);
  ReadAllReduces(json, engine.all_reduces);
  ReadLimits(json, engine);
  ReadMemory(json, engine);
  ReadHost(json, engine);
  ReadGraphs(json, engine.graphs);
  ReadErrors(json, engine.errors);
  json.Finish();
  return diagnostics.error_count() == before ? std::optional(engine) : std::nullopt;
}

}  // namespace hespas::serve
