// What a profiler's name of an operation says about its kind, in the words of report/step/op_labels.h.
#pragma once

#include <string_view>

namespace hespas::report {

// `framework`: "jit(step)/mlp/dot_general", may be ""; its last part decides where it tells.
std::string_view KindOfKernel(std::string_view name, std::string_view framework);

}  // namespace hespas::report
