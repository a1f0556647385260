// The process: how its heap grows.
#include <malloc.h>

#include "cli/program.h"

int main(int argc, char** argv) {
  // One short run: growing the heap in large steps and keeping it saves thousands of page faults.
  constexpr int kHeapStep = 16 << 20;
  mallopt(M_TOP_PAD, kHeapStep);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  return hespas::cli::RunProgram(argc, argv);
}
