#include "estimate/external/worker_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "base/system/file.h"
#include "base/text/digest.h"
#include "base/text/json.h"
#include "estimate/cost.h"
#include "estimate/external/op_request.h"

namespace hespas::estimate {
namespace {

using nlohmann::json;

constexpr int kMostLost = 3;  // operations in a row

struct Greeting {
  std::string name;
  std::string version;
  std::set<std::string> costs;
};

std::optional<Greeting> ReadGreeting(const std::string& line) {
  const json object = ReadJson(line);
  if (!object.is_object() || object.value("ready", json()) != json(true)) return std::nullopt;
  const json costs = object.value("costs", json());
  const json name = object.value("name", json()), version = object.value("version", json());
  if (!costs.is_array() || !name.is_string() || !version.is_string()) return std::nullopt;
  Greeting greeting{.name = name, .version = version, .costs = {}};
  for (const json& cost : costs) {
    if (!cost.is_string()) return std::nullopt;
    greeting.costs.insert(cost.get<std::string>());
  }
  return greeting;
}

// The time in an answer to request `id`, what the worker says went wrong, or that the answer makes no sense.
Result<double> ReadAnswer(const std::string& line, int64_t id) {
  const json object = ReadJson(line);
  if (!object.is_object() || object.value("id", json()) != json(id)) {
    return MakeError(kBadWorker, fmt::format("it answered `{}`", line.substr(0, 80)));
  }
  if (object.value("ok", json()) != json(true)) {
    const json message = object.value("message", json());
    return MakeError(kWorkerFailed, message.is_string() ? message.get<std::string>() : "it gave no reason");
  }
  const json seconds = object.value("seconds", json());
  const double value = seconds.is_number() ? seconds.get<double>() : -1;
  if (!(value >= 0) || !std::isfinite(value)) {
    return MakeError(kBadWorker, fmt::format("`seconds` of its answer is {}", JsonText(seconds).substr(0, 80)));
  }
  return value;
}

// What an argument says: the content of the program or configuration that it names, or itself.
std::string ContentOf(const std::string& argument) {
  std::error_code unused;
  const std::string path = std::filesystem::exists(argument, unused) ? argument : FindProgram({argument});
  const auto content = path.empty() ? Result<std::string>(argument) : ReadRaw(path);
  return Sha256Hex(content ? *content : argument);
}

// Everything of the device that requests tell.
std::string RatesText(const hardware::Device& device) {
  std::string text = fmt::format("{}|{}|{}", device.name, device.memory_bandwidth.value, device.peak_flops.value);
  for (const auto* table : {&device.per_datatype_flops, &device.matrix_flops, &device.vector_flops}) {
    for (const auto& [type, rate] : *table) text += fmt::format("|{} {}", type, rate.value);
  }
  return text;
}

class WorkerModel : public OpModel {
 public:
  WorkerModel(WorkerCommand command, Worker worker, const Greeting& greeting, const hardware::Device& device)
      : command_(std::move(command)), worker_(std::move(worker)), greeting_(greeting), device_(device) {
    fingerprint_ = fmt::format("exec 2|{}|{}|{}", greeting.name, greeting.version, RatesText(device));
    for (const std::string& argument : command_.arguments) fingerprint_ += "|" + ContentOf(argument);
  }

  std::string_view name() const override { return "exec"; }
  std::string Fingerprint() const override { return fingerprint_; }

  Result<std::optional<OpTime>> Cost(const ir::Module& module, ir::OpId op) const override {
    json request = OpRequest(module, op);
    if (!greeting_.costs.contains(request["op"]) && !greeting_.costs.contains("*")) return std::optional<OpTime>();
    if (request.contains("matmul")) request["product"] = request["matmul"];  // its old name, for one version
    request["device"] = DeviceJson(module, op);
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = answers_.try_emplace(JsonText(request), 0.0);
    if (is_new) known->second = Ask(request);
    if (!known->second) return known->second.error();
    return std::optional(OpTime{.seconds = *known->second});
  }

 private:
  // `peak_flops` is the rate for the operation's type.
  json DeviceJson(const ir::Module& module, ir::OpId op) const {
    const bool contraction = CostOf(module, op).contraction;
    const ir::Element* element = RateElement(module, op, contraction);
    const std::string type = element == nullptr ? "" : ir::ElementText(*element);
    const FlopsPerSecond rate = contraction ? device_.MatrixRateFor(type) : device_.VectorRateFor(type);
    return {{"name", device_.name}, {"peak_flops", rate.value}, {"memory_bandwidth", device_.memory_bandwidth.value}};
  }

  Result<double> Ask(json& request) const {
    const int64_t id = ++asked_;
    request["id"] = id;
    Result<double> answer = MakeError(kWorkerFailed, fmt::format("{}: given up", greeting_.name));
    for (int attempt = 0; attempt < 2 && lost_ < kMostLost; ++attempt) {
      answer = AskOnce(JsonText(request), id);
      // A refusal of the worker's own is an answer.
      if (answer || (answer.error().kind == &kWorkerFailed && worker_)) break;
      worker_.reset();
    }
    lost_ = worker_ ? 0 : lost_ + 1;
    if (answer) return answer;
    return MakeError(*answer.error().kind, fmt::format("{}: {}", greeting_.name, answer.error().message));
  }

  Result<double> AskOnce(const std::string& line, int64_t id) const {
    if (!worker_) {
      auto again = Worker::Start(command_.arguments, command_.environment);
      if (!again) return again.error();
      worker_ = *std::move(again);
      const auto greeting = worker_->ReadLine(command_.limit);
      if (!greeting) return Lost(greeting.error());
    }
    if (const Status written = worker_->WriteLine(line); !written) return Lost(written.error());
    const auto answer = worker_->ReadLine(command_.limit);
    if (!answer) return Lost(answer.error());
    return ReadAnswer(*answer, id);
  }

  Error Lost(const Error& error) const {
    worker_.reset();
    return error;
  }

  WorkerCommand command_;
  mutable std::optional<Worker> worker_;
  Greeting greeting_;
  hardware::Device device_;
  std::string fingerprint_;
  mutable std::mutex mutex_;
  mutable int64_t asked_ = 0;
  mutable int lost_ = 0;
  mutable std::unordered_map<std::string, Result<double>> answers_;  // by request
};

}  // namespace

Result<std::unique_ptr<OpModel>> StartWorkerModel(WorkerCommand command, const hardware::Device& device) {
  auto worker = Worker::Start(command.arguments, command.environment);
  if (!worker) return worker.error();
  const auto line = worker->ReadLine(command.limit);
  const auto greeting = line ? ReadGreeting(*line) : std::nullopt;
  if (!greeting) {
    const std::string seen = line ? fmt::format("it said `{}`", line->substr(0, 80)) : line.error().message;
    return MakeError(kBadWorker, fmt::format("`{}` is no estimator: {}", command.arguments[0], seen), {},
                     "run it by hand: its first line must be its greeting");
  }
  return std::unique_ptr<OpModel>(
      std::make_unique<WorkerModel>(std::move(command), *std::move(worker), *greeting, device));
}

}  // namespace hespas::estimate
