// The optimised program and its blocks, and what of a run decides on the cut.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "driver/configuration/words.h"
#include "driver/stages/program/model_work.h"
#include "graph/block_graph.h"
#include "hardware/device.h"
#include "ir/module.h"
#include "split/separator.h"

namespace hespas::driver {

struct RunOptions;

enum class SplitStrategy : uint8_t { kAuto, kLinear, kIndividual, kFusion };

template <>
inline constexpr std::array<Word<SplitStrategy>, 4> kWords<SplitStrategy> = {
    {{"auto", SplitStrategy::kAuto},
     {"linear", SplitStrategy::kLinear},
     {"individual", SplitStrategy::kIndividual},
     {"fusion", SplitStrategy::kFusion}}};
template <>
inline constexpr std::array<Word<split::Separator>, 5> kWords<split::Separator> = {
    {{"communication", split::Separator::kCommunication},
     {"convolution", split::Separator::kConvolution},
     {"dot_general", split::Separator::kDotGeneral},
     {"reduce", split::Separator::kReduce},
     {"return", split::Separator::kReturn}}};
template <>
inline constexpr std::array<Word<split::SeparatorPolicy>, 3> kWords<split::SeparatorPolicy> = {
    {{"ISOLATED", split::SeparatorPolicy::kIsolated},
     {"END_BLOCK", split::SeparatorPolicy::kEndBlock},
     {"START_BLOCK", split::SeparatorPolicy::kStartBlock}}};
template <>
inline constexpr std::array<Word<graph::BlockKind>, 2> kWords<graph::BlockKind> = {
    {{"COMM_COLL_NODE", graph::BlockKind::kCommunication}, {"COMP_NODE", graph::BlockKind::kCompute}}};

struct SplitOptions {
  SplitStrategy strategy = SplitStrategy::kAuto;
  bool merge = false;
  size_t block_limit = 1024;
  split::Separator separator = split::Separator::kCommunication;
  split::SeparatorPolicy policy = split::SeparatorPolicy::kIsolated;
  graph::BlockKind separator_kind = graph::BlockKind::kCommunication;  // of an isolated separating op
  int64_t loop_window = 0;                                             // split::Options; 0: loops are laid out in full
};

// Equal where the options are.
std::string KeyOf(const SplitOptions& options);

// A program that is read, optimised and split. Blocks point into the module, so both live in one.
struct Prepared {
  hardware::Device device;
  std::string sha256;
  int64_t ops = 0;  // of main, as read
  std::unique_ptr<ir::Module> module;
  graph::BlockGraph blocks;
  std::string split;                         // the strategy that was used
  bool scheduled = false;                    // as read, a compiler's result: its order is a schedule
  bool optimised = false;                    // passes ran, and they ask the device
  bool on_cpu = false;                       // the memory that XLA's CPU compiler would take
  std::optional<ModelWork> model_work = {};  // as read; absent: the program does not tell what it recomputes
};

// Cuts the module into blocks again.
bool SplitBlocks(const RunOptions& options, Prepared& prepared, Diagnostics& diagnostics);

}  // namespace hespas::driver
