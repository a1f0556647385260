// A bounds-checked cursor over bytecode. The first failure sticks: everything read after it is zero or empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"

namespace hespas::read::bytecode {

inline constexpr DiagnosticKind kTruncated{
    "E0301", "The bytecode ends too early: the file is cut off, or a length in it is damaged."};
inline constexpr DiagnosticKind kMalformed{
    "E0302",
    "The bytecode is damaged: an index points nowhere, a code is unknown or a section is missing or repeated."};
inline constexpr DiagnosticKind kUnsupportedVersion{
    "E0303", "The bytecode was written by a version newer than those that can be read.", Outcome::kUnsupported};
inline constexpr DiagnosticKind kLimit{
    "E0304", "The bytecode nests deeper, or its attributes expand further, than any sound program does."};

// The first thing that went wrong in one file; shared by all cursors into it.
struct Failure {
  const DiagnosticKind* kind = nullptr;
  std::string message;
  size_t offset = 0;
};

class ByteReader {
 public:
  ByteReader(std::string_view whole, Failure& failure) : ByteReader(whole, 0, whole.size(), failure) {}
  ByteReader(std::string_view whole, size_t begin, size_t end, Failure& failure)
      : whole_(whole), at_(begin), end_(end), failure_(&failure) {}

  bool ok() const { return failure_->kind == nullptr; }
  bool at_end() const { return at_ >= end_; }
  size_t offset() const { return at_; }
  size_t remaining() const { return ok() ? end_ - at_ : 0; }

  void Fail(const DiagnosticKind& kind, std::string message) {
    if (!ok()) return;
    *failure_ = {&kind, std::move(message), at_};
  }

  uint8_t Byte() {
    if (!Has(1)) return 0;
    return static_cast<uint8_t>(whole_[at_++]);
  }
  std::string_view Bytes(uint64_t size) {
    if (!Has(size)) return {};
    at_ += size;
    return whole_.substr(at_ - size, size);
  }

  // Prefix varint: the trailing zeros of the first byte count the bytes that follow it.
  uint64_t Varint() {
    const uint8_t first = Byte();
    if (first & 1) return first >> 1;
    if (first == 0) return ok() ? LittleEndian(Bytes(8)) : 0;
    const int extra = __builtin_ctz(first);
    const std::string_view rest = Bytes(static_cast<uint64_t>(extra));
    return ((LittleEndian(rest) << 8) | first) >> (extra + 1);
  }
  int64_t SignedVarint() {
    const uint64_t zigzag = Varint();
    return static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
  }
  // A number and a flag in its lowest bit.
  std::pair<uint64_t, bool> VarintWithFlag() {
    const uint64_t both = Varint();
    return {both >> 1, (both & 1) != 0};
  }
  // A number of things that take at least one byte each; what is left bounds it.
  size_t Count() {
    const uint64_t count = Varint();
    if (count <= remaining()) return count;
    Fail(kTruncated, "a list is longer than what is left of the bytecode");
    return 0;
  }
  // A zero-terminated string.
  std::string_view CString() {
    const size_t zero = whole_.substr(0, end_).find('\0', at_);
    if (zero == std::string_view::npos) {
      Fail(kTruncated, "a string has no end");
      return {};
    }
    const std::string_view text = whole_.substr(at_, zero - at_);
    at_ = zero + 1;
    return text;
  }
  // The next `size` bytes as a cursor of their own.
  ByteReader Part(uint64_t size) {
    const size_t begin = at_;
    if (!Has(size)) return ByteReader(whole_, at_, at_, *failure_);
    at_ += size;
    return ByteReader(whole_, begin, at_, *failure_);
  }

 private:
  bool Has(uint64_t size) {
    if (ok() && size <= end_ - at_) return true;
    Fail(kTruncated, "the bytecode ends too early");
    return false;
  }
  static uint64_t LittleEndian(std::string_view bytes) {
    uint64_t value = 0;
    for (size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<uint8_t>(bytes[i]);
    return value;
  }

  std::string_view whole_;
  size_t at_;
  size_t end_;
  Failure* failure_;
};

}  // namespace hespas::read::bytecode
