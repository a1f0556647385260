#include "driver/configuration/kernel_costs.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/suggest.h"
#include "base/text/unit_text.h"
#include "driver/configuration/assumptions.h"
#include "estimate/calls/call_text.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::driver {
namespace {

struct KernelCost {
  std::string name;
  std::optional<double> flops, bytes, transcendentals;
};

Error Bad(std::string message) {
  return MakeError(kBadKernelCost, std::move(message), {}, "for example --cost my_kernel=flops:2e12,bytes:300MB");
}

Status Set(KernelCost& cost, std::string_view key, std::string_view text) {
  const auto value = ParseQuantity(text, key == "bytes" ? Unit::kBytes : Unit::kNumber);
  if (!value || !(*value >= 0)) return Bad(fmt::format("{} of {}: {} is no quantity", key, cost.name, text));
  if (key == "flops") {
    cost.flops = *value;
  } else if (key == "bytes") {
    cost.bytes = *value;
  } else if (key == "transcendentals") {
    cost.transcendentals = *value;
  } else {
    return Bad(fmt::format("a kernel has no {}; it has flops, bytes and transcendentals", key));
  }
  return {};
}

Status Complete(const KernelCost& cost, std::vector<KernelCost>& out) {
  if (cost.name.empty()) return Bad("the kernel's name is missing");
  if (!cost.flops && !cost.bytes && !cost.transcendentals) return Bad(fmt::format("{} has no figure", cost.name));
  out.push_back(cost);
  return {};
}

Status FromOption(std::string_view text, std::vector<KernelCost>& out) {
  const size_t equals = text.rfind('=');
  KernelCost cost{.name = std::string(text.substr(0, equals))};
  std::string_view rest = text.substr(equals + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest = item.size() == rest.size() ? std::string_view() : rest.substr(item.size() + 1);
    const size_t colon = item.find(':');
    if (colon == std::string_view::npos) return Bad(fmt::format("`{}` is not KEY:VALUE", item));
    if (Status set = Set(cost, item.substr(0, colon), item.substr(colon + 1)); !set) return set;
  }
  return Complete(cost, out);
}

Status FromFile(const std::string& path, std::vector<KernelCost>& out) {
  std::ifstream file(path);
  if (!file) return Bad(fmt::format("`{}` is neither NAME=KEY:VALUE nor a file that can be read", path));
  std::ostringstream text;
  text << file.rdbuf();
  const auto parsed = ParseJson(text.str(), path);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return Bad(fmt::format("{} holds no object", path));
  for (const auto& [name, figures] : parsed->items()) {
    KernelCost cost{.name = name};
    if (!figures.is_object()) return Bad(fmt::format("{}: {} is no object", path, name));
    for (const auto& [key, value] : figures.items()) {
      const std::string given = value.is_string() ? value.get<std::string>() : JsonText(value);
      if (Status set = Set(cost, key, given); !set) return set;
    }
    if (Status complete = Complete(cost, out); !complete) return complete;
  }
  return {};
}

// As estimate/calls/custom_kernel.h reads it.
std::string AttributeText(const KernelCost& cost) {
  std::string text = fmt::format("{{flops = {}", cost.flops.value_or(0));
  if (cost.bytes) text += fmt::format(", bytes = {}", *cost.bytes);
  if (cost.transcendentals) text += fmt::format(", transcendentals = {}", *cost.transcendentals);
  return text + "}";
}

size_t Annotate(const KernelCost& cost, ir::Module& module) {
  std::vector<ir::OpId> calls;
  ir::WalkNested(module, module.root(), [&](ir::OpId op) {
    if (module.kind(op) != ir::OpKind::kCustomCall) return;
    if (ir::CallTarget(module, op) == cost.name || estimate::KernelName(module, op) == cost.name) calls.push_back(op);
  });
  for (const ir::OpId op : calls) {
    const auto old = module.attributes(op);
    std::vector<ir::Attribute> attributes(old.begin(), old.end());
    attributes.push_back({module.InternName("hespas.cost"), module.Keep(AttributeText(cost))});
    module.SetAttributes(op, attributes);
  }
  return calls.size();
}

// Names that --cost can mean, each once.
std::vector<std::string> KernelNames(const ir::Module& module) {
  std::set<std::string> names;
  ir::WalkNested(module, module.root(), [&](ir::OpId op) {
    if (module.kind(op) != ir::OpKind::kCustomCall) return;
    for (const std::string& name : {ir::CallTarget(module, op), std::string(estimate::KernelName(module, op))}) {
      if (!name.empty()) names.insert(name);
    }
  });
  return {names.begin(), names.end()};
}

}  // namespace

Status ApplyKernelCosts(const std::vector<std::string>& costs, ir::Module& module, Diagnostics& diagnostics) {
  std::vector<KernelCost> read;
  for (const std::string& text : costs) {
    const bool option = text.find('=') != std::string::npos;
    if (Status one = option ? FromOption(text, read) : FromFile(text, read); !one) return one;
  }
  for (const KernelCost& cost : read) {
    if (Annotate(cost, module) > 0) continue;
    diagnostics.Warning(kUnusedAssumption, fmt::format("--cost: the program has no custom call `{}`", cost.name),
                        {.file = module.path()}, DidYouMean(cost.name, KernelNames(module)));
  }
  return {};
}

}  // namespace hespas::driver
