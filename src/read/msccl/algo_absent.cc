// Without Expat no schedule is read.
#include "base/left_out.h"
#include "read/msccl/algo.h"

namespace hespas::read::msccl {

Result<Algorithm> ParseAlgorithm(std::string_view, const std::string& file) {
  return LeftOut("reader of XML", {.file = file});
}

}  // namespace hespas::read::msccl
