// The progress line: "estimate 312/1578, 820/s, 2 s left", on stderr, for work that takes longer than a second.
//
// - On a terminal one line that is written over; elsewhere a plain line every five seconds; nothing with --quiet.
#pragma once

#include <chrono>
#include <string>

#include "base/progress.h"

namespace hespas::cli {

class ProgressLine : public Progress {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine() override { Clear(); }

  void Begin(std::string_view what, size_t total) override;
  void EndsWithin(double seconds) override;
  void Done(size_t items) override;
  // Takes the line away, so that other output starts on an empty one.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  std::string what_;
  size_t total_ = 0;
  Clock::time_point began_;
  Clock::time_point last_;
  double most_seconds_ = 0;  // from began_ on
};

}  // namespace hespas::cli
