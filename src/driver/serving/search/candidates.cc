#include "driver/serving/search/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/text/csv_text.h"

namespace hespas::driver {
namespace {

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

// Layouts of the devices: powers of two for tensor and pipeline ranks, what they leave as replicas or engines apart.
std::vector<ServeOptions> Layouts(const ServeOptions& options) {
  std::vector<ServeOptions> out;
  const int64_t n = options.devices;
  for (int64_t tensor = 1; tensor <= n; tensor *= 2) {
    for (int64_t pipeline = 1; tensor * pipeline <= n; pipeline *= 2) {
      if (n % (tensor * pipeline) != 0) continue;
      if (options.tensor && *options.tensor != tensor) continue;
      if (options.pipeline.value_or(pipeline) != pipeline) continue;
      const int64_t engines = n / (tensor * pipeline);
      ServeOptions layout = options;
      layout.tensor = tensor;
      layout.pipeline = pipeline;
      layout.data = engines;
      if (options.disaggregate.empty() && options.data.value_or(engines) == engines) out.push_back(layout);
      layout.data = 1;
      if (options.data.value_or(1) != 1) continue;
      for (int64_t prefill = 1; prefill < engines; prefill *= 2) {
        layout.disaggregate = fmt::format("{}:{}", prefill, engines - prefill);
        if (options.disaggregate.empty() || options.disaggregate == layout.disaggregate) out.push_back(layout);
      }
    }
  }
  return out;
}

// Of a stream that engines take in turn, what one of `engines` sees: its intervals are sums of as many of the stream's.
std::string Thinned(const std::string& arrivals, int64_t engines) {
  constexpr std::string_view kGamma = "gamma:";
  if (arrivals == "poisson") return fmt::format("{}{}", kGamma, engines);
  if (!arrivals.starts_with(kGamma)) return arrivals;
  const auto shape = CsvNumber(arrivals.substr(kGamma.size()));
  return shape ? fmt::format("{}{}", kGamma, *shape * static_cast<double>(engines)) : arrivals;
}

}  // namespace

std::vector<ServeOptions> Candidates(const ServeOptions& options) {
  std::vector<ServeOptions> out;
  for (const std::string& device : SplitList(options.device.name)) {
    for (const std::string& weights : SplitList(options.weights)) {
      ServeOptions each = options;
      each.device.name = device;
      each.weights = weights;
      each.overload = true;  // a point says whether it keeps the limits
      const auto layouts = Layouts(each);
      out.insert(out.end(), layouts.begin(), layouts.end());
    }
  }
  return out;
}

StepsKey StepsKeyOf(const ServeOptions& candidate) {
  return {candidate.device.name, candidate.weights, candidate.tensor.value_or(0), candidate.pipeline.value_or(0)};
}

int64_t EqualParts(const Layout& layout) {
  return layout.prefill > 0 ? std::gcd(layout.prefill, layout.decode) : layout.replicas;
}

ServeOptions PartOf(const ServeOptions& whole, const Layout& layout, int64_t parts) {
  ServeOptions part = whole;
  part.devices /= parts;
  if (layout.prefill > 0) {
    part.disaggregate = fmt::format("{}:{}", layout.prefill / parts, layout.decode / parts);
  } else if (!layout.data_within) {
    part.data = 1;
  }
  if (parts == 1) return part;
  part.load.arrivals = Thinned(whole.load.arrivals, parts);
  if (whole.load.rate) part.load.rate = *whole.load.rate / static_cast<double>(parts);
  if (whole.load.requests) part.load.requests = std::max<int64_t>(*whole.load.requests / parts, 1);
  return part;
}

}  // namespace hespas::driver
