// When the stages of a pipeline are free: each takes steps in the order in which they entered, for the same time.
//
// - Stage i is free at the largest of a few straight lines in i. Where a step met none before it, they are its entry
//   and i times its own time; where it did, it follows the slower step at its own distance.
// - So a step costs the same whatever the number of stages. On a grid (serve/step.h) sums are exact, as if each stage
//   had been simulated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hespas::serve {

class Stages {
 public:
  explicit Stages(int64_t count) : last_(static_cast<double>(count - 1)), lines_{{}} {}

  double first_free() const { return first_free_; }

  // A step that leaves the first stage at `out` and takes `each` in every later one: when it leaves the last.
  double Enter(double out, double each) {
    first_free_ = out;
    if (last_ == 0) return out;
    Line own{.begin = out, .each = each};
    double end = 0;
    const auto passed = [&](Line& line) {
      if (line.each < each) {  // those before it get out of its way from the second stage on
        own.begin = std::max(own.begin, line.begin + line.each);
        return true;
      }
      line.begin += each;
      return false;
    };
    lines_.erase(std::remove_if(lines_.begin(), lines_.end(), passed), lines_.end());
    const double own_end = own.At(last_);
    std::erase_if(lines_, [&](const Line& line) { return line.At(last_) <= own_end; });
    const bool behind = std::any_of(lines_.begin(), lines_.end(), [&](const Line& l) { return l.At(1) >= own.At(1); });
    if (!behind) lines_.push_back(own);
    for (const Line& line : lines_) end = std::max(end, line.At(last_));
    return end;
  }

 private:
  struct Line {
    double begin = 0;
    double each = 0;
    double At(double stage) const { return begin + stage * each; }
  };
  double last_;
  double first_free_ = 0;
  std::vector<Line> lines_;
};

}  // namespace hespas::serve
