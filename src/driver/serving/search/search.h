// `hespas serve --search`: which devices, layout, formats and load serve best.
//
// - Candidates are all layouts of the devices (tensor, pipeline, replicas, or engines for prompts and tokens apart),
//   formats and devices that are named; those that memory or a lone request's bounds exclude are not simulated.
// - Under limits the highest rate that a steady server keeps them at, by 99th percentiles, is found by bisection, and
//   candidates are left out where at each speed that their bounds (a hull) reach a point of their device and format
//   answers more; without, clients are quadrupled. Of equal engines that share a rate in turn one is simulated: its
//   intervals are sums of the stream's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/serving/serve.h"
#include "report/text/table.h"

namespace hespas::driver {

struct SearchPoint {
  std::string device;
  int64_t devices = 1;
  serve::Parallelism parallelism;
  std::string disaggregate;
  std::string weights;
  std::optional<int64_t> clients;
  std::optional<double> rate;
  double ttft_s = 0;
  double tpot_s = 0;
  double e2e_s = 0;
  double span_s = 0;  // duration of the requests under way: of long ones more than of short ones
  double tokens_per_s_per_user = 0;
  double tokens_per_s_per_device = 0;
  std::optional<double> cost;
  bool meets = true;    // the limits
  bool drifts = false;  // keeps them, but its requests take longer and longer
  bool pareto = false;  // none is better in tokens/s/user and in tokens/s/device
  bool best = false;
  std::vector<Diagnostic> warnings;  // of its run
};

struct SearchAnswer {
  std::vector<SearchPoint> points;
  size_t candidates = 0;  // layouts and formats
  size_t excluded = 0;    // before simulating
  size_t dominated = 0;   // at each speed a point of the same device and format answers more than they can
};

// `options.device.name` and `options.weights` may be lists with commas.
std::optional<SearchAnswer> Search(const ServeOptions& options, Diagnostics& diagnostics);

report::Table SearchTable(const SearchAnswer& answer);
std::string ToJson(const SearchAnswer& answer, const ServeOptions& options);
// search.json and report.html.
Status WriteSearchFolder(const SearchAnswer& answer, const ServeOptions& options, const std::string& folder);

}  // namespace hespas::driver
