// Predicts one program with the installed libraries; prints the step time in picoseconds.
#include <spdlog/spdlog.h>

#include <iostream>

#include "driver/pipeline/run.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  spdlog::set_level(spdlog::level::off);  // stages and their times, which go to stdout otherwise
  hespas::driver::RunOptions options;
  options.program.path = argv[1];
  options.device.name = argv[2];
  hespas::Diagnostics diagnostics;
  const auto result = hespas::driver::Run(options, diagnostics);
  for (const auto& diagnostic : diagnostics.all()) std::cerr << hespas::Render(diagnostic);
  if (!result) return 1;
  std::cout << result->step_time.value << "\n";
}
