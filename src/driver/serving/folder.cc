// What `hespas serve --output` writes.
#include <fmt/format.h>

#include "base/system/file.h"
#include "driver/serving/report_page.h"
#include "driver/serving/serve.h"

namespace hespas::driver {
namespace {

std::string RequestsCsv(const ServeAnswer& answer) {
  std::string out = "request,sent_s,admitted_s,first_token_s,last_token_s,input_tokens,output_tokens\n";
  for (size_t i = 0; i < answer.run.records.size(); ++i) {
    const serve::Record& r = answer.run.records[i];
    const serve::Request& request = answer.workload.requests[i];
    if (r.sent < 0) continue;
    out += fmt::format("{},{:.6f},{:.6f},{:.6f},{:.6f},{},{}\n", i, r.sent, r.admitted, r.first, r.last, request.input,
                       request.output);
  }
  return out;
}

std::string TimelineCsv(const serve::Run& run) {
  std::string out = "time_s,running,waiting,kv_blocks_used\n";
  for (const serve::Moment& moment : run.timeline)
    out += fmt::format("{:.6f},{},{},{}\n", moment.time, moment.running, moment.waiting, moment.blocks_used);
  return out;
}

using Files = std::vector<std::pair<std::string, std::string>>;

Status WriteFiles(const std::string& folder, const Files& files) {
  if (Status made = MakeFolder(folder); !made) return made;
  for (const auto& [name, text] : files) {
    if (Status written = WriteFileAtomically(folder + "/" + name, text); !written) return written;
  }
  return {};
}

}  // namespace

Status WriteServeFolder(const ServeAnswer& answer, const std::string& folder) {
  return WriteFiles(folder, {{"serve.json", ToJson(answer)},
                             {"requests.csv", RequestsCsv(answer)},
                             {"timeline.csv", TimelineCsv(answer.run)},
                             {"report.html", ServePage(answer)}});
}

Status WriteSearchFolder(const SearchAnswer& answer, const ServeOptions& options, const std::string& folder) {
  return WriteFiles(folder, {{"search.json", ToJson(answer, options)}, {"report.html", SearchPage(answer, options)}});
}

}  // namespace hespas::driver
