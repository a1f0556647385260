// A weight-stationary array with memory phases, as COCOSSim simulates it: weights of one tile are fetched and shifted
// in while the tile before multiplies, activations of the first column of tiles and all results pass through memory.
//
// Per job: max(R, rd(W + A)) + Tk Tn (2M + max(2R, rd(W)) + o) + (Tk - 1) rd(A) + wr(M N), in cycles; 2 bytes an
// element, transfers in beats of 64 bytes (spec external-simulators section 1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/native/matrix_model.h"

namespace hespas::estimate::native {
namespace {

constexpr double kElementBytes = 2;
constexpr double kBeatBytes = 64;
constexpr double kCyclesPerRow = 2;

struct JobCycles {
  double array = 0;
  double memory = 0;  // exposed
};

class Systolic : public MatrixModel {
 public:
  Systolic(const hardware::SystolicArray& array, BytesPerSecond memory)
      : array_(array),
        read_beats_per_cycle_(array.read_bandwidth.value_or(memory).value / (kBeatBytes * array.clock_hz)),
        write_beats_per_cycle_(array.write_bandwidth.value_or(memory).value / (kBeatBytes * array.clock_hz)) {}

  std::string_view name() const override { return "systolic"; }

  MatrixCost Cost(const MatmulShape& matmul) const override {
    const double n_of_job = ColumnsOfJob(matmul);
    const double whole_jobs = std::floor(matmul.n / n_of_job);
    const double rest = matmul.n - whole_jobs * n_of_job;
    JobCycles cycles = Job(matmul, n_of_job);
    cycles.array *= whole_jobs;
    cycles.memory *= whole_jobs;
    if (rest > 0) {
      const JobCycles last = Job(matmul, rest);
      cycles.array += last.array;
      cycles.memory += last.memory;
    }
    const double total = matmul.batch * (cycles.array + cycles.memory);
    return {.seconds = total / array_.clock_hz,
            .compute_seconds = matmul.batch * cycles.array / array_.clock_hz,
            .memory_seconds = matmul.batch * cycles.memory / array_.clock_hz,
            .cycles = total};
  }

  std::string Fingerprint() const override {
    return fmt::format("systolic 1|{}|{}|{}|{}|{}|{}|{}|{}", array_.rows, array_.columns, array_.count, array_.clock_hz,
                       array_.buffer_bytes, read_beats_per_cycle_, write_beats_per_cycle_, array_.tile_overhead_cycles);
  }

 private:
  double Read(double elements) const {
    return std::ceil(elements * kElementBytes / kBeatBytes) / read_beats_per_cycle_;
  }
  double Write(double elements) const {
    return std::ceil(elements * kElementBytes / kBeatBytes) / write_beats_per_cycle_;
  }

  // Results and activations of one job must fit on the chip together.
  double ColumnsOfJob(const MatmulShape& matmul) const {
    const double resident = matmul.m * matmul.n + matmul.m * std::min(matmul.k, array_.rows);
    if (resident * kElementBytes <= array_.buffer_bytes) return matmul.n;
    return std::clamp(std::floor(array_.buffer_bytes / (kElementBytes * matmul.m)), 1.0, matmul.n);
  }

  JobCycles Job(const MatmulShape& matmul, double n) const {
    const double row_tiles = std::ceil(matmul.k / array_.rows);
    const double column_tiles = std::ceil(std::ceil(n / array_.columns) / array_.count);
    const double weights = std::min(matmul.k, array_.rows) * std::min(n, array_.columns);
    const double activations = matmul.m * std::min(matmul.k, array_.rows);
    const double shift = kCyclesPerRow * array_.rows;
    const double tile = kCyclesPerRow * matmul.m + std::max(shift, Read(weights)) + array_.tile_overhead_cycles;
    return {.array = array_.rows + row_tiles * column_tiles * tile,
            .memory = std::max(0.0, Read(weights + activations) - array_.rows) + (row_tiles - 1) * Read(activations) +
                      Write(matmul.m * n)};
  }

  hardware::SystolicArray array_;
  double read_beats_per_cycle_;
  double write_beats_per_cycle_;
};

}  // namespace

MadeModel MakeSystolic(const hardware::Device& device) {
  if (!device.systolic_array) {
    return MakeError(kNoSystolicArray, fmt::format("device `{}` has no `systolic_array`", device.name));
  }
  return MadeModel(std::make_unique<Systolic>(*device.systolic_array, device.memory_bandwidth));
}

}  // namespace hespas::estimate::native
