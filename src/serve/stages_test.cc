#include "serve/stages.h"

#include <gtest/gtest.h>

#include <vector>

#include "serve/load/random.h"
#include "serve/step.h"

namespace hespas::serve {
namespace {

TEST(Stages, AreFreeAsIfEachWereSimulated) {
  for (const int64_t count : {1, 2, 3, 8, 64}) {
    Random random(static_cast<uint64_t>(count));
    Stages stages(count);
    std::vector<double> free(static_cast<size_t>(count), 0);
    double now = 0;
    for (int step = 0; step < 2000; ++step) {
      const double each = OnGrid(random.Uniform() < 0.1 ? 0.3 * random.Uniform() : 0.01 + 1e-4 * random.Uniform());
      now = std::max(now, stages.first_free()) + (random.Uniform() < 0.3 ? OnGrid(0.05 * random.Uniform()) : 0);
      double out = free.front() = now + each;
      for (size_t i = 1; i < free.size(); ++i) out = free[i] = std::max(out, free[i]) + each;
      ASSERT_EQ(stages.Enter(now + each, each), out) << count << " stages, step " << step;
      ASSERT_EQ(stages.first_free(), free.front());
    }
  }
}

}  // namespace
}  // namespace hespas::serve
