// How fast programs are read and verified; bytes per second of uncompressed text.
// usage: read_bench [benchmark options] [FILE...]      without files: two programs of this repository
#include <benchmark/benchmark.h>

#include "base/system/file.h"
#include "read/read.h"

namespace hespas {
namespace {

void ReadProgramText(benchmark::State& state, const std::string& path) {
  const auto text = ReadInput(path);
  if (!text) return state.SkipWithError("the program is missing");
  for (auto _ : state) {
    state.PauseTiming();  // the reader takes the text over: the copy is the benchmark's
    std::string copy = *text;
    Diagnostics diagnostics;
    state.ResumeTiming();
    benchmark::DoNotOptimize(read::ReadText(path, std::move(copy), {}, diagnostics));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text->size()));
}

void Register(const std::string& path) {
  benchmark::RegisterBenchmark(("ReadProgramText:" + path).c_str(), [path](benchmark::State& state) {
    ReadProgramText(state, path);
  })->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace hespas

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) hespas::Register(argv[i]);
  if (argc == 1) {
    const std::string root = HESPAS_SOURCE_DIR;
    hespas::Register(root + "/examples/llama3-100m-4dev.mlir.gz");
    hespas::Register(root + "/tests/data/fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz");
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
