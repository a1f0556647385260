#include "serve/load/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "serve/step.h"

namespace hespas::serve {
namespace {

constexpr int64_t kMostRequests = 10'000'000;
constexpr int64_t kMostTokens = 100'000'000;  // of one request

Error BadLoad(std::string message) {
  return MakeError(kBadLoad, std::move(message), {}, "for example --isl 1024 --osl uniform:100:200 --concurrency 64");
}

Result<Length> LengthOfFile(const std::string& path) {
  const auto text = ReadInput(path);
  const auto csv = text ? ParseCsv("tokens\n" + *text, path) : Result<CsvTable>(text.error());
  if (!csv) return csv.error();
  std::vector<double> values;
  for (size_t i = 0; i < csv->rows.size(); ++i) {
    const auto value = CsvNumber(csv->rows[i][0]);
    if (!value && i == 0) continue;  // a header
    if (!value || *value < 1) {
      const auto line = static_cast<size_t>(csv->lines[i]) - 1;
      return MakeError(kBadLoad, fmt::format("`{}` is no length", csv->rows[i][0]), {.file = path, .line = line},
                       "one number of tokens a line");
    }
    values.push_back(*value);
  }
  if (values.empty()) return MakeError(kBadLoad, "there is no length", {.file = path}, "one number of tokens a line");
  return Length::Of(std::move(values));
}

Result<Length> ParseLength(const std::string& option, const std::string& text) {
  constexpr std::string_view kFile = "file:";
  if (text.starts_with(kFile)) return LengthOfFile(text.substr(kFile.size()));
  if (text.empty()) return BadLoad(fmt::format("{} is missing", option));
  const auto length = Length::Parse(text);
  if (!length) return BadLoad(fmt::format("{}: `{}` is no length", option, text));
  return *length;
}

int64_t Tokens(double drawn) {
  return std::clamp<int64_t>(std::llround(std::min(drawn, static_cast<double>(kMostTokens))), 1, kMostTokens);
}

// Gaps between requests in parts of their mean.
class Arrivals {
 public:
  static Result<Arrivals> Parse(const std::string& text, uint64_t seed) {
    Arrivals arrivals(seed);
    constexpr std::string_view kGamma = "gamma:";
    if (text == "regular") {
      arrivals.shape_.reset();
    } else if (text.starts_with(kGamma)) {
      arrivals.shape_ = CsvNumber(text.substr(kGamma.size()));
      if (!arrivals.shape_ || *arrivals.shape_ < 1e-3 || *arrivals.shape_ > 1e6)
        return BadLoad(fmt::format("--arrivals: `{}` has no shape between 0.001 and 1e6", text));
    } else if (text != "poisson") {
      return BadLoad(fmt::format("--arrivals: `{}` is none of poisson, regular and gamma:SHAPE", text));
    }
    return arrivals;
  }
  double Next() {
    if (!shape_) return 1;
    return *shape_ == 1 ? -std::log1p(-random_.Uniform()) : random_.Gamma(*shape_);
  }

 private:
  explicit Arrivals(uint64_t seed) : random_(seed) {}
  std::optional<double> shape_ = 1;
  Random random_;
};

}  // namespace

int64_t Workload::Longest() const {
  int64_t longest = 0;
  for (const Request& request : requests) longest = std::max(longest, request.input + request.output);
  return longest;
}

Status CheckCount(int64_t requests) {
  if (requests >= 1 && requests <= kMostRequests) return {};
  return BadLoad("--requests: between 1 and 10,000,000 can be simulated");
}

Result<Workload> MakeWorkload(const Load& load) {
  const int ways = (load.clients ? 1 : 0) + (load.rate ? 1 : 0) + (load.trace.empty() ? 0 : 1);
  if (ways != 1) return BadLoad(ways == 0 ? "there is no load" : "the load is given in several ways");
  if (!load.trace.empty()) {
    auto requests = ReadTrace(load.trace, load.trace_run);
    if (!requests) return requests.error();
    if (load.requests && static_cast<size_t>(*load.requests) < requests->size())
      requests->resize(static_cast<size_t>(std::max<int64_t>(*load.requests, 1)));
    return Workload{.requests = *std::move(requests), .clients = {}};
  }
  if (load.clients && (*load.clients < 1 || *load.clients > kMostRequests))
    return BadLoad("--concurrency: between 1 and 10,000,000 clients can wait");
  if (load.rate && !(*load.rate > 0)) return BadLoad("--rate: the rate must be above 0");
  const int64_t count = load.requests.value_or(load.clients ? std::min(10 * *load.clients, kMostRequests) : 1000);
  if (const Status known = CheckCount(count); !known) return known.error();
  const auto input = ParseLength("--isl", load.input);
  if (!input) return input.error();
  const auto output = ParseLength("--osl", load.output);
  if (!output) return output.error();
  auto arrivals = Arrivals::Parse(load.arrivals, load.seed * 3);
  if (!arrivals) return arrivals.error();
  Random inputs(load.seed * 3 + 1);
  Random outputs(load.seed * 3 + 2);
  Workload workload{.requests = {}, .clients = load.clients};
  workload.requests.reserve(static_cast<size_t>(count));
  double passed = 0;  // mean gaps
  double now = 0;
  for (int64_t i = 0; i < count; ++i) {
    workload.requests.push_back({.arrival = now,
                                 .input = Tokens(input->Draw(inputs.Uniform())),
                                 .output = Tokens(output->Draw(outputs.Uniform()))});
    if (load.rate && std::isfinite(*load.rate)) {
      passed += arrivals->Next();
      now = OnGrid(passed / *load.rate);
    }
  }
  return workload;
}

}  // namespace hespas::serve
