// How fast programs are read; bytes per second of uncompressed text.
#include <benchmark/benchmark.h>

#include "base/file.h"
#include "read/read.h"

namespace hespas {
namespace {

void ReadProgramText(benchmark::State& state, const std::string& path) {
  const auto text = ReadInput(std::string(HESPAS_SOURCE_DIR) + path);
  if (!text) return state.SkipWithError("the program is missing");
  for (auto _ : state) {
    Diagnostics diagnostics;
    benchmark::DoNotOptimize(read::ReadText(path, *text, {}, diagnostics));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text->size()));
}

BENCHMARK_CAPTURE(ReadProgramText, llama3_100m, std::string("/examples/llama3-100m-4dev.mlir.gz"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ReadProgramText, resnet50_train,
                  std::string("/tests/data/fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz"))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hespas
