#include "estimate/calibrated/model.h"

#include <algorithm>
#include <cmath>

namespace hespas::estimate::calibrated {
namespace {

struct TileSize {
  double m, n;
};

// Tiles of the vendors' libraries.
constexpr TileSize kMatrixTiles[] = {{64, 64},   {64, 128},  {128, 64}, {128, 128}, {64, 256}, {256, 64}, {128, 256},
                                     {256, 128}, {256, 256}, {32, 64},  {64, 32},   {32, 128}, {128, 32}};
constexpr TileSize kLaneTiles[] = {{32, 32},  {32, 64},  {64, 32},  {64, 64},  {32, 128},
                                   {128, 32}, {64, 128}, {128, 64}, {128, 128}};

constexpr double kWholeProcess = 7;  // nm; smaller ones need less energy a flop
constexpr double kProcessExponent = 1.6;
constexpr double kMatmulLoads = 0.6;    // weight of loads in FP32 matmuls: P100's, the one measured device without free
                                        // issue slots
constexpr double kWarpRow = 1024;       // longest softmax row that one warp keeps in registers
constexpr double kLargestBlock = 1024;  // threads
constexpr double kVectorBytes = 16;     // that a thread reads at once
constexpr double kL2Begin = 0.5;        // bytes / L2 capacity from which they start to spill
constexpr double kL2End = 1.2;          // and from which nothing stays
constexpr double kUsualDistance = 0.25;  // of a large kernel's time, from the datasheet's limit
constexpr double kL2Gain = 10;           // most that L2 is faster than memory
constexpr double kSoftmaxRows = 2;       // rows that an SM holds at once: thread blocks of 1024
constexpr double kNormRows = 16;         // of 128
constexpr double kNormStep = 512;        // elements that such a block takes at once
constexpr double kNormIssue = 128;       // lanes that four schedulers start in a clock
constexpr double kWinogradGain = 4;      // fewer multiplications of F(4x4, 3x3)

double TileEfficiency(const TileSize& tile, double half) {
  const double extent = 2 * tile.m * tile.n / (tile.m + tile.n);
  return 1 / (1 + half / extent);
}

TileModel MatrixTiles(const Machine& machine, const GemmConstants& gemm, const MemoryConstants& memory, size_t type) {
  TileModel model{
      .sms = machine.sms,
      .launch_us = gemm.launch_us,
      .l2_rate = machine.clock * gemm.l2_bytes_per_clock,
      .store_rate = machine.clock * gemm.l2_bytes_per_clock / gemm.store_ratio,
      .memory_rate = machine.memory_rate * gemm.memory_fraction,
      .long_rate = std::min(machine.memory_rate * gemm.memory_fraction, SustainedMemoryRate(machine, memory)),
      .l2_bytes = machine.l2_bytes,
      .k_step = 32,
      .sharp = true};
  for (const TileSize& tile : kMatrixTiles) {
    model.tiles[model.tile_count++] = {
        .m = tile.m,
        .n = tile.n,
        .sm_rate = machine.sm_matrix_rate[type] * gemm.sm_fraction * TileEfficiency(tile, gemm.tile_half),
        .device_rate = machine.matrix_rate[type] * gemm.sustained_fraction};
  }
  return model;
}

// The board's power allows so many flop/us; energy a flop falls with the process (spec device-model section 2.2).
double PowerLimit(const Machine& machine, const LaneConstants& lanes) {
  const double energy =
      lanes.pj_per_flop * std::pow(std::min(1.0, machine.process_nm / kWholeProcess), kProcessExponent);
  return std::max(1.0, machine.tdp_w - lanes.board_watts) / energy * 1e6;
}

// Of the lanes' rate that arithmetic keeps beside loads and addresses: 1 where half of the issue slots are free for
// them; `weight` grows with the loads for each arithmetic instruction.
double IssueEfficiency(const Machine& machine, double weight) {
  return std::pow((1 + 0.25) / (1 + machine.issue_share * machine.issue_share), weight);
}

TileModel LaneTiles(const Machine& machine, const LaneConstants& lanes, double store_ratio, bool batched) {
  TileModel model{.sms = machine.sms,
                  .launch_us = lanes.launch_us,
                  .l2_rate = machine.clock * lanes.l2_bytes_per_clock,
                  .store_rate = machine.clock * lanes.l2_bytes_per_clock / store_ratio,
                  .memory_rate = machine.memory_rate * lanes.memory_fraction,
                  .long_rate = machine.memory_rate * lanes.memory_fraction,
                  .k_step = 8,
                  .sharp = false};
  const double port = IssueEfficiency(machine, kMatmulLoads);
  const auto [unlimited, limit] = LaneRate(machine, lanes);
  double device_rate = unlimited;
  if (machine.tdp_w > 0) {
    device_rate = std::pow(std::pow(unlimited, -8) + std::pow(limit, -8), -1.0 / 8);
    model.throttled = std::log(unlimited / device_rate);
  }
  const double sm_rate = 2 * machine.lanes * machine.clock * lanes.sustained_fraction * port;
  const double reference = 1 + lanes.tile_half / 64;  // efficiencies are relative to a tile of 64 x 64
  for (const TileSize& tile : kLaneTiles) {
    if (batched && std::min(tile.m, tile.n) < std::min(lanes.smallest_tile, 128.0)) continue;
    const double efficiency = reference * TileEfficiency(tile, lanes.tile_half);
    model.tiles[model.tile_count++] = {
        .m = tile.m, .n = tile.n, .sm_rate = sm_rate * efficiency, .device_rate = device_rate * efficiency};
    model.fastest_rate = std::max(model.fastest_rate, device_rate * efficiency);
  }
  return model;
}

double Flops(const KernelSpec& matmul) { return 2 * matmul.b * matmul.m * matmul.n * matmul.k; }

// Rates of vector types relative to f32 come in powers of two.
double LaneSlowdown(const Machine& machine, Datatype type) {
  const double ratio =
      machine.vector_rate[static_cast<size_t>(Datatype::kF32)] / machine.vector_rate[static_cast<size_t>(type)];
  return std::exp2(std::round(std::log2(ratio)));
}

double SoftMaximum(double a, double b, double power) {
  const double largest = std::max(a, b);
  if (!(largest > 0)) return 0;
  if (!(std::min(a, b) > 0)) return largest;
  return largest * std::pow(std::pow(a / largest, power) + std::pow(b / largest, power), 1 / power);
}

double Rise(double x, double start, double full) {
  return std::clamp((x - start) / std::max(1e-9, full - start), 0.0, 1.0);
}

graph::Bound BoundOf(const KernelTime& time) {
  if (time.launch_us >= 0.5 * time.us) return graph::Bound::kLaunch;
  return time.compute_us >= std::max(time.memory_us, time.l2_us) ? graph::Bound::kCompute : graph::Bound::kMemory;
}

bool IsMatmul(const KernelSpec& kernel) {
  return kernel.shape == Shape::kGemm || kernel.shape == Shape::kLinear || kernel.shape == Shape::kBatchedGemm ||
         kernel.shape == Shape::kConvolution;
}

// Extents are at least 1 and finite, whatever the table said.
double Extent(double x) { return std::isfinite(x) ? std::clamp(x, 1.0, 1e12) : 1.0; }

// Matmuls of the matrix units for one multiplication of the program.
double Repeats(const KernelSpec& kernel) { return Extent(kernel.passes) * Extent(kernel.real_matmuls); }

KernelTime FromMatmul(const MatmulTime& time, const MatmulSize& size, double launch_us) {
  return {.us = time.us,
          .launch_us = launch_us,
          .compute_us = time.compute_us,
          .l2_us = time.l2_us,
          .memory_us = time.memory_us,
          .store_us = time.store_us,
          .flops = 2 * size.b * size.m * size.n * size.k,
          .bytes = size.moved > 0 ? size.moved
                                  : size.b * ((size.m + size.n) * size.k * size.operand_bytes +
                                              size.m * size.n * size.result_bytes)};
}

}  // namespace

LaneRates LaneRate(const Machine& machine, const LaneConstants& lanes) {
  const double port = IssueEfficiency(machine, kMatmulLoads);
  return {.unlimited = machine.vector_rate[static_cast<size_t>(Datatype::kF32)] * lanes.sustained_fraction * port,
          .limit = PowerLimit(machine, lanes)};
}

KernelModel::KernelModel(const hardware::Device& device, const Parameters& parameters)
    : machine_(MakeMachine(device)), parameters_(ForDevice(parameters, device)) {
  for (size_t i = 0; i < kDatatypes; ++i) {
    matrix_[i] = MatrixTiles(machine_, Gemm(static_cast<Datatype>(i)), parameters_.memory, i);
  }
  linear_ = LaneTiles(machine_, parameters_.linear, parameters_.gemm.store_ratio, false);
  batched_ = LaneTiles(machine_, parameters_.batched, parameters_.gemm.store_ratio, true);
  memory_rate_ = SustainedMemoryRate(machine_, parameters_.memory);
  l2_rate_ = std::clamp(machine_.sms * machine_.clock * parameters_.memory.l2_bytes_per_clock, memory_rate_,
                        kL2Gain * memory_rate_);
}

KernelTime KernelModel::Time(const KernelSpec& kernel) const {
  KernelTime time;
  switch (kernel.shape) {
    case Shape::kGemm:
    case Shape::kLinear:
    case Shape::kBatchedGemm:
      time = Matmul(kernel);
      break;
    case Shape::kConvolution:
      time = Convolution(kernel);
      time.us += BetweenKernels(kernel, time.us);
      break;
    default:
      time = Memory(kernel);
  }
  time.us = WithDispatch(kernel, time.us);
  time.bound = BoundOf(time);
  time.datasheet_us = DatasheetTime(kernel, time);
  time.sigma_us = time.us * RelativeSigma(kernel, time);
  return time;
}

double KernelModel::FamilySigma(const KernelSpec& kernel) const {
  const std::string_view family = FamilyOnMachine(kernel, machine_);
  if (family != FamilyName(Family::kGemm)) return parameters_.sigma[static_cast<size_t>(FamilyOf(kernel))];
  return kernel.type == Datatype::kTf32 ? parameters_.tf32_sigma
                                        : parameters_.sigma[static_cast<size_t>(Family::kGemm)];
}

// What L2 could hold may have left it, or not: half of the difference. So 61 % of 1,549 kernels of 6 to 25 MB are
// within sigma, where 12 % were, in 41 programs on an H100 (docs/accuracy.md).
double KernelModel::InL2OrNotUs(const KernelTime& time) const {
  return InL2(time.bytes) * (time.bytes / memory_rate_ - time.bytes / l2_rate_) / 2;
}

// The further a kernel stays from what the datasheet allows, the more of its time is the model's guess.
double KernelModel::RelativeSigma(const KernelSpec& kernel, const KernelTime& time) const {
  const double away = 1 - std::min(1.0, time.datasheet_us / time.us);
  const double near = parameters_.roofline_sigma * parameters_.roofline_sigma;
  const double sigma = FamilySigma(kernel) * std::sqrt((near + away * away) / (near + kUsualDistance * kUsualDistance));
  if (kernel.shape == Shape::kTraffic) return std::hypot(sigma, InL2OrNotUs(time) / time.us);
  if (!IsMatmul(kernel) || machine_.tensor[static_cast<size_t>(kernel.type)]) return sigma;
  const double power = parameters_.power_sigma * (kernel.shape == Shape::kBatchedGemm ? batched_ : linear_).throttled;
  return std::sqrt(sigma * sigma + power * power);
}

double KernelModel::DatasheetTime(const KernelSpec& kernel, const KernelTime& time) const {
  const auto type = static_cast<size_t>(kernel.type);
  const double peak = machine_.tensor[type] ? machine_.matrix_rate[type] : machine_.vector_rate[type];
  return std::max(IsMatmul(kernel) ? time.flops * Extent(kernel.passes) / peak : 0.0,
                  time.bytes / machine_.memory_rate);
}

void KernelModel::Times(std::span<const KernelSpec> kernels, std::span<KernelTime> times) const {
  for (size_t i = 0; i < kernels.size(); ++i) times[i] = Time(kernels[i]);
}

KernelModel::SizedMatmul KernelModel::Sized(const KernelSpec& kernel) const {
  if (machine_.tensor[static_cast<size_t>(kernel.type)]) return MatrixUnits(kernel);
  return Lanes(kernel, kernel.shape == Shape::kBatchedGemm);
}

KernelTime KernelModel::Timed(const SizedMatmul& sized, const KernelSpec& kernel) {
  KernelTime time = FromMatmul(BestTiling(*sized.tiles, sized.size), sized.size, sized.tiles->launch_us);
  time.flops *= Extent(kernel.real_matmuls);
  return time;
}

KernelTime KernelModel::Matmul(const KernelSpec& kernel) const { return Timed(Sized(kernel), kernel); }

KernelModel::SizedMatmul KernelModel::MatrixUnits(const KernelSpec& kernel) const {
  const double bytes = Entry(kernel.type).bytes;
  const bool narrow_float = kernel.type == Datatype::kF8 || kernel.type == Datatype::kF4;
  MatmulSize size{.b = Extent(kernel.b),
                  .m = Extent(kernel.m),
                  .n = Extent(kernel.n),
                  .k = Extent(kernel.k),
                  .operand_bytes = kernel.operand_bytes > 0 ? kernel.operand_bytes : bytes,
                  .result_bytes = narrow_float ? 2 : bytes,
                  .slowdown = Repeats(kernel)};
  if (kernel.result_bytes > 0) size.result_bytes = kernel.result_bytes;
  size.moved = kernel.bytes;
  if (size.b * size.m * size.n <= Gemm(kernel.type).split_limit * size.k) size.splits = 8;
  return {.tiles = &matrix_[static_cast<size_t>(kernel.type)], .size = size};
}

KernelModel::SizedMatmul KernelModel::Lanes(const KernelSpec& kernel, bool batched) const {
  const LaneConstants& lanes = batched ? parameters_.batched : parameters_.linear;
  const double bytes = Entry(kernel.type).bytes;
  MatmulSize size{.b = Extent(kernel.b),
                  .m = Extent(kernel.m),
                  .n = Extent(kernel.n),
                  .k = Extent(kernel.k),
                  .operand_bytes = kernel.operand_bytes > 0 ? kernel.operand_bytes : bytes,
                  .result_bytes = kernel.result_bytes > 0 ? kernel.result_bytes : bytes,
                  .slowdown = LaneSlowdown(machine_, kernel.type) * Repeats(kernel),
                  .moved = kernel.bytes,
                  .splits = batched ? 1 : 16};
  const double length = std::pow(size.k / lanes.long_extent, 2);
  if (!batched) size.slowdown *= 1 + lanes.long_contraction * length / (1 + length);
  return {.tiles = batched ? &batched_ : &linear_, .size = size, .batched = batched};
}

// The cheaper of an implicit matmul and, for 3x3 of stride 1 on lanes, Winograd F(4x4, 3x3) with its transforms
// (spec device-model section 2.4).
KernelTime KernelModel::Convolution(const KernelSpec& kernel) const {
  const ConvolutionConstants& constants = parameters_.convolution;
  const double stride = Extent(kernel.stride);
  const double extent =
      Extent(std::floor((kernel.extent + 2 * std::max(0.0, kernel.padding) - kernel.kernel_size) / stride) + 1);
  KernelSpec matmul = kernel;
  matmul.shape = Shape::kLinear;
  matmul.b = 1;
  matmul.m = Extent(kernel.b) * extent * extent;
  matmul.n = Extent(kernel.output_channels);
  matmul.k = Extent(kernel.input_channels) * Extent(kernel.kernel_size) * Extent(kernel.kernel_size);
  const auto direct = [&] {
    KernelTime time = Matmul(matmul);
    time.us = time.launch_us + (time.us - time.launch_us) / constants.sustained_fraction;
    return time;
  };
  const bool winograd = kernel.kernel_size == 3 && stride == 1 && !machine_.tensor[static_cast<size_t>(kernel.type)];
  if (!winograd) return direct();
  const double tiles = Extent(kernel.b) * std::pow(std::ceil(extent / 4), 2);
  KernelSpec matmuls = matmul;
  matmuls.b = 36;
  matmuls.m = tiles;
  matmuls.k = Extent(kernel.input_channels);
  const auto transformed = [&] {
    KernelTime time = Timed(Lanes(matmuls, true), matmuls);
    const double element = 36 * Entry(kernel.type).bytes;
    KernelSpec data{.shape = Shape::kTraffic, .type = kernel.type};
    data.bytes = constants.transform_passes * tiles * (matmuls.k + matmuls.n) * element;
    KernelSpec weights{.shape = Shape::kTraffic, .type = kernel.type, .bytes = matmuls.k * matmuls.n * element};
    time.us = time.launch_us + (time.us - time.launch_us) / constants.winograd_fraction + Memory(data).us +
              Memory(weights).us;
    time.flops = Flops(matmul) / kWinogradGain;
    return time;
  };
  // The one with less arithmetic first; the other is not even tried where that alone takes longer.
  const double slowdown = LaneSlowdown(machine_, kernel.type);
  const double least_direct_us =
      parameters_.linear.launch_us + Flops(matmul) * slowdown / linear_.fastest_rate / constants.sustained_fraction;
  const double least_transformed_us = parameters_.batched.launch_us + 2 * parameters_.memory.launch_us +
                                      Flops(matmuls) * slowdown / batched_.fastest_rate / constants.winograd_fraction;
  const bool begin = least_direct_us < least_transformed_us;
  const KernelTime first = begin ? direct() : transformed();
  if (first.us <= (begin ? least_transformed_us : least_direct_us)) return first;
  const KernelTime second = begin ? transformed() : direct();
  return second.us < first.us ? second : first;
}

// What an eager convolution, a call of two to five kernels and a workspace, spends beside `us` of work: so many
// dispatches where the work is long, and in proportion to the work where it is short.
double KernelModel::BetweenKernels(const KernelSpec& kernel, double us) const {
  constexpr double kShort = 2;
  if (!(kernel.dispatch_us > 0) || !std::isfinite(kernel.dispatch_us)) return 0;
  return 1 / (1 / (kShort * us) + 1 / (parameters_.convolution.dispatches * kernel.dispatch_us));
}

// How often the data of a softmax passes between memory and the SMs, relative to one read and one write. A block of
// threads reads whole vectors while they last for all its threads, the rest of the row element by element.
double KernelModel::SoftmaxPasses(const KernelSpec& kernel) const {
  const double n = Extent(kernel.n);
  if (n <= kWarpRow) return 1;
  const RowConstants& rows = parameters_.rows;
  const double bytes = Entry(kernel.type).bytes;
  const double vector = kVectorBytes / bytes;
  const double threads = std::min(kLargestBlock, std::exp2(std::ceil(std::log2(n / vector))));
  const double scalar = std::fmod(n, threads * vector) / n;
  return 1 + rows.softmax_block + rows.softmax_scalar * scalar +
         rows.softmax_reread *
             Rise(kSoftmaxRows * n * bytes / machine_.fast_bytes, rows.softmax_start, rows.softmax_full);
}

// Time of the SMs' schedulers for the steps of all rows.
double KernelModel::NormIssue(const KernelSpec& kernel) const {
  const double steps = Extent(kernel.b) * std::ceil(Extent(kernel.n) / kNormStep);
  return steps * parameters_.rows.norm_step_clocks * kNormIssue /
         (machine_.sms * machine_.issue_lanes * machine_.clock);
}

// A layer norm reads its rows twice, and the rows in flight compete with their results for L2 and the SMs' own memory.
// SMs that work faster than memory delivers wait with few of them in flight: with as many as keep memory busy.
double KernelModel::NormPasses(const KernelSpec& kernel, double issue_us, double once_us) const {
  const RowConstants& rows = parameters_.rows;
  const double in_flight = machine_.sms * kNormRows * Extent(kernel.n) * Entry(kernel.type).bytes;
  const double share = 2 * in_flight / (machine_.l2_bytes + machine_.sms * machine_.fast_bytes);
  const auto passes = [&](double x) { return 1 + rows.norm_reread * Rise(x, rows.norm_start, rows.norm_full); };
  // Shares x and times go together: issue_us * share / x on the SMs, passes(x) * once_us on memory.
  const double work = share * issue_us / std::max(once_us, 1e-30);
  const double slope = rows.norm_reread / std::max(1e-9, rows.norm_full - rows.norm_start);
  const double start = 1 - slope * rows.norm_start;
  double busy = (std::sqrt(start * start + 4 * slope * work) - start) / (2 * slope);
  if (work <= rows.norm_start) busy = work;
  if (work >= rows.norm_full * (1 + rows.norm_reread)) busy = rows.norm_full;
  return passes(std::min(share, busy));
}

double KernelModel::InL2(double bytes) const {
  if (!(bytes < kL2End * machine_.l2_bytes)) return 0;
  if (bytes <= kL2Begin * machine_.l2_bytes) return 1;
  return 1 - Rise(std::log(bytes / machine_.l2_bytes + 1e-30), std::log(kL2Begin), std::log(kL2End));
}

KernelTime KernelModel::Memory(const KernelSpec& kernel) const {
  const MemoryConstants& memory = parameters_.memory;
  KernelTime time;
  time.launch_us = memory.launch_us;
  const double elements = Extent(kernel.b) * Extent(kernel.n);
  const bool counted = kernel.shape == Shape::kTraffic || kernel.bytes > 0;
  time.bytes = std::max(0.0, counted ? kernel.bytes : kernel.arrays * elements * Entry(kernel.type).bytes);
  const Instructions work = kernel.shape == Shape::kTraffic ? kernel.instructions : kernel.weight * elements;
  time.flops = work.lanes + work.special;
  const double hits = InL2(time.bytes);
  // Between the two rates by their ratio's power, so that a percent of capacity never moves a time by three.
  double rate = hits > 0 ? l2_rate_ : memory_rate_;
  if (hits > 0 && hits < 1) rate = std::pow(l2_rate_ / memory_rate_, hits) * memory_rate_;
  double traffic_us = time.bytes / rate;
  const double clocks = work.lanes / machine_.lanes + work.special / machine_.special_lanes;  // of one SM
  time.compute_us = clocks / (machine_.sms * machine_.clock * memory.Issue(work.streamed));
  if (kernel.shape == Shape::kSoftmax) traffic_us *= SoftmaxPasses(kernel);
  if (kernel.shape == Shape::kNorm) {
    time.compute_us = NormIssue(kernel);
    traffic_us *= NormPasses(kernel, time.compute_us, traffic_us);
  }
  time.l2_us = hits * traffic_us;
  time.memory_us = (1 - hits) * traffic_us;
  time.us = time.launch_us + (kernel.shape == Shape::kNorm ? std::max(traffic_us, time.compute_us)
                                                           : SoftMaximum(traffic_us, time.compute_us, 6));
  return time;
}

double KernelModel::WithDispatch(const KernelSpec& kernel, double us) const {
  if (!(kernel.dispatch_us > 0) || !std::isfinite(kernel.dispatch_us)) return us;
  const DispatchConstants& dispatch = parameters_.dispatch;
  return SoftMaximum(us, kernel.dispatch_us, IsMatmul(kernel) ? dispatch.matmul_power : dispatch.memory_power);
}

}  // namespace hespas::estimate::calibrated
