#include "estimate/ptx/lanes.h"

#include <algorithm>

namespace hespas::estimate::ptx {
namespace {

constexpr uint32_t kAll = 0xFFFFFFFF;

uint64_t Truncated(uint64_t value, int bits) { return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1); }

int64_t Signed(uint64_t value, int bits) {
  if (bits >= 64) return static_cast<int64_t>(value);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>((Truncated(value, bits) ^ sign) - sign);
}

bool Compare(Comparison comparison, bool less, bool equal) {
  switch (comparison) {
    case Comparison::kEqual:
      return equal;
    case Comparison::kNotEqual:
      return !equal;
    case Comparison::kLess:
      return less;
    case Comparison::kLessEqual:
      return less || equal;
    case Comparison::kGreater:
      return !less && !equal;
    case Comparison::kGreaterEqual:
      return !less;
  }
  return false;
}

uint64_t Divide(uint64_t a, uint64_t b, const Instruction& instruction) {
  const bool remainder = instruction.action == Action::kRemainder;
  const int bits = instruction.bits;
  if (Truncated(b, bits) == 0) return 0;
  if (!instruction.is_signed) {
    return remainder ? Truncated(a, bits) % Truncated(b, bits) : Truncated(a, bits) / Truncated(b, bits);
  }
  const int64_t x = Signed(a, bits), y = Signed(b, bits);
  if (y == -1) return remainder ? 0 : 0 - static_cast<uint64_t>(x);
  return static_cast<uint64_t>(remainder ? x % y : x / y);
}

// Distinct words of the bank that has most of them.
int64_t MostInOneBank(std::vector<uint64_t>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<int64_t, 32> banks{};
  for (const uint64_t word : words) ++banks[word % 32];
  return *std::max_element(banks.begin(), banks.end());
}

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

Wide Product(uint64_t a, uint64_t b, const Instruction& instruction) {
  const int bits = instruction.bits;
  if (instruction.is_signed) return static_cast<Wide>(static_cast<SignedWide>(Signed(a, bits)) * Signed(b, bits));
  return static_cast<Wide>(Truncated(a, bits)) * Truncated(b, bits);
}

}  // namespace

Lanes::Lanes(const Kernel& kernel, const Launch& launch, const Extent& at, int64_t first_thread)
    : kernel_(kernel), launch_(launch), registers_(kernel.register_bits.size()) {
  const Extent& block = launch.block;
  for (int lane = 0; lane < kWarp; ++lane) {
    const int64_t thread = first_thread + lane;
    const Extent tid = {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
    const auto i = static_cast<size_t>(lane);
    for (size_t axis = 0; axis < 3; ++axis) {
      special_[axis][i] = static_cast<uint64_t>(tid[axis]);
      special_[3 + axis][i] = static_cast<uint64_t>(block[axis]);
      special_[6 + axis][i] = static_cast<uint64_t>(at[axis]);
      special_[9 + axis][i] = static_cast<uint64_t>(launch.grid[axis]);
    }
    special_[12][i] = static_cast<uint64_t>(lane);
  }
}

LaneSet Lanes::Guard(const Instruction& instruction, uint32_t there) const {
  if (instruction.guard < 0) return {.known = there};
  const Values& predicate = registers_[static_cast<size_t>(instruction.guard)];
  LaneSet made;
  for (int lane = 0; lane < kWarp; ++lane) {
    const uint32_t bit = 1u << lane;
    if ((there & bit) == 0) continue;
    if ((predicate.known & bit) == 0) {
      made.unknown |= bit;
    } else if ((predicate.of[static_cast<size_t>(lane)] != 0) != instruction.guard_negated) {
      made.known |= bit;
    }
  }
  const bool steers = instruction.action == Action::kBranch || instruction.action == Action::kExit;
  if (!steers) made.known |= made.unknown;
  return made;
}

Lanes::Values Lanes::Read(const Operand& operand) const {
  Values made;
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      made = registers_[static_cast<size_t>(operand.index)];
      for (uint64_t& value : made.of) value += static_cast<uint64_t>(operand.value);
      return made;
    case Operand::Kind::kSpecial:
      return {.of = special_[static_cast<size_t>(operand.index)], .known = kAll};
    case Operand::Kind::kImmediate:
      made.known = kAll;
      made.of.fill(static_cast<uint64_t>(operand.value));
      return made;
    case Operand::Kind::kParameter: {
      // Pointers lie far apart; the launch's constants follow them.
      const auto index = static_cast<size_t>(operand.index);
      size_t pointers = 0;
      while (pointers < kernel_.parameter_bits.size() && kernel_.parameter_bits[pointers] == 64) ++pointers;
      if (index < pointers) made.of.fill((static_cast<uint64_t>(index) + 1) << 44);
      const bool given = index >= pointers && index - pointers < launch_.constants.size();
      if (given) made.of.fill(launch_.constants[index - pointers]);
      made.known = index < pointers || given ? kAll : 0;
      return made;
    }
    case Operand::Kind::kUnknown:
      return made;
  }
  return made;
}

uint64_t Lanes::Compute(const Instruction& instruction, const std::vector<Values>& reads, int lane) const {
  const auto i = static_cast<size_t>(lane);
  const auto at = [&](size_t operand) { return operand < reads.size() ? reads[operand].of[i] : 0; };
  const uint64_t a = at(0), b = at(1);
  const int bits = instruction.bits;
  switch (instruction.action) {
    case Action::kMove:
    case Action::kLoadParameter:
      return a;
    case Action::kAdd:
      return a + b;
    case Action::kSubtract:
      return a - b;
    case Action::kMultiply:
      return static_cast<uint64_t>(Product(a, b, instruction));
    case Action::kMultiplyHigh:
      return static_cast<uint64_t>(Product(a, b, instruction) >> bits);
    case Action::kMultiplyAdd:
      return static_cast<uint64_t>(Product(a, b, instruction)) + at(2);
    case Action::kDivide:
    case Action::kRemainder:
      return Divide(a, b, instruction);
    case Action::kMinimum:
    case Action::kMaximum: {
      const bool less =
          instruction.is_signed ? Signed(a, bits) < Signed(b, bits) : Truncated(a, bits) < Truncated(b, bits);
      return less == (instruction.action == Action::kMinimum) ? a : b;
    }
    case Action::kAnd:
      return a & b;
    case Action::kOr:
      return a | b;
    case Action::kXor:
      return a ^ b;
    case Action::kNot:
      return bits == 1 ? (a == 0 ? 1 : 0) : ~a;
    case Action::kNegate:
      return 0 - a;
    case Action::kShiftLeft:
      return b >= static_cast<uint64_t>(bits) ? 0 : a << b;
    case Action::kShiftRight: {
      const int by = static_cast<int>(std::min<uint64_t>(Truncated(b, 32), 63));
      return instruction.is_signed ? static_cast<uint64_t>(Signed(a, bits) >> by) : Truncated(a, bits) >> by;
    }
    case Action::kConvert:
      return instruction.is_signed ? static_cast<uint64_t>(Signed(a, instruction.source_bits))
                                   : Truncated(a, instruction.source_bits);
    case Action::kCompare: {
      const bool equal = Truncated(a, bits) == Truncated(b, bits);
      const bool less =
          instruction.is_signed ? Signed(a, bits) < Signed(b, bits) : Truncated(a, bits) < Truncated(b, bits);
      return Compare(instruction.comparison, less, equal) ? 1 : 0;
    }
    case Action::kSelect:
      return at(2) != 0 ? a : b;
    default:
      return 0;
  }
}

// Lanes whose result is known.
uint32_t Lanes::ActiveOf(const Instruction& instruction, const std::vector<Values>& reads, uint32_t active) const {
  const bool computes = instruction.action != Action::kUnknown && instruction.action != Action::kMemory;
  if (!computes || instruction.writes.size() != 1 || reads.empty()) return 0;
  for (const Values& read : reads) active &= read.known;
  return active;
}

void Lanes::Execute(const Instruction& instruction, const LaneSet& guard) {
  if (instruction.writes.empty()) return;
  std::vector<Values> reads;
  if (instruction.action != Action::kUnknown && instruction.action != Action::kMemory) {
    for (const Operand& operand : instruction.reads) reads.push_back(Read(operand));
  }
  const uint32_t active = guard.known | guard.unknown,
                 known = ActiveOf(instruction, reads, guard.known & ~guard.unknown);
  for (const int32_t reg : instruction.writes) {
    Values& result = registers_[static_cast<size_t>(reg)];
    result.known = (result.known & ~active) | known;
  }
  Values& result = registers_[static_cast<size_t>(instruction.writes[0])];
  const int bits = instruction.wide ? 2 * instruction.bits : instruction.bits;
  for (int lane = 0; lane < kWarp; ++lane) {
    if ((known >> lane & 1) == 0) continue;
    const uint64_t value = Compute(instruction, reads, lane);
    const bool predicate = instruction.action == Action::kCompare;
    result.of[static_cast<size_t>(lane)] = predicate ? value : Truncated(value, bits);
  }
}

Lanes::Values Lanes::Addresses(const Instruction& instruction) const {
  for (const Operand& operand : instruction.reads) {
    if (operand.is_address) return Read(operand);  // a copy's source stands behind its target
  }
  return {};
}

int64_t Lanes::Sectors(const Instruction& instruction, uint32_t active) const {
  const Operand* last = nullptr;
  for (const Operand& operand : instruction.reads) last = operand.is_address ? &operand : last;
  const Values addresses = last == nullptr ? Values{} : Read(*last);
  std::vector<uint64_t> sectors;
  int64_t unknown = 0;
  for (int lane = 0; lane < kWarp; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    if ((addresses.known >> lane & 1) == 0) {
      unknown += std::max(1, instruction.bytes / 32);
      continue;
    }
    const uint64_t first = addresses.of[static_cast<size_t>(lane)];
    const uint64_t end = first + static_cast<uint64_t>(std::max(1, instruction.bytes));
    for (uint64_t sector = first / 32; sector * 32 < end; ++sector) sectors.push_back(sector);
  }
  std::sort(sectors.begin(), sectors.end());
  return unknown + (std::unique(sectors.begin(), sectors.end()) - sectors.begin());
}

// Lanes are served in groups of 128 bytes together; words of one bank that differ wait for each other.
int64_t Lanes::Wavefronts(const Instruction& instruction, uint32_t active) const {
  const Values addresses = Addresses(instruction);
  const int lanes_at_once = std::clamp(128 / std::max(4, instruction.bytes), 1, kWarp);
  int64_t passes = 0;
  for (int first = 0; first < kWarp; first += lanes_at_once) {
    std::vector<uint64_t> words;
    uint32_t unknown = 0;
    for (int lane = first; lane < first + lanes_at_once; ++lane) {
      if ((active >> lane & 1) == 0) continue;
      const bool known = (addresses.known >> lane & 1) != 0;
      unknown += !known;
      const uint64_t word = addresses.of[static_cast<size_t>(lane)] / 4;
      for (uint64_t w = 0; known && w < static_cast<uint64_t>(std::max(1, instruction.bytes / 4)); ++w) {
        words.push_back(word + w);
      }
    }
    passes += std::max<int64_t>(unknown > 0, MostInOneBank(words));
  }
  return passes;
}

int64_t Lanes::DynamicExtent(const Instruction& instruction, uint32_t active) const {
  const Values addresses = Addresses(instruction);
  int64_t extent = 0;
  for (int lane = 0; lane < kWarp; ++lane) {
    if ((active & addresses.known) >> lane & 1) {
      const auto address = static_cast<int64_t>(addresses.of[static_cast<size_t>(lane)]);
      if (address >= kDynamicShared) extent = std::max(extent, address - kDynamicShared + instruction.bytes);
    }
  }
  return extent;
}

}  // namespace hespas::estimate::ptx
