// A function's type as its `function_type` text writes it: "(tensor<2xf32>, i32) -> tensor<f32>".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/verify/check.h"

namespace hespas::ir::verify {

struct Signature {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> results;
};

std::optional<Signature> AsSignature(std::string_view text);
// Of a func.func op.
std::optional<Signature> SignatureOf(const Module& module, OpId function);

// Whether the text may spell the type; types with aliases, encodings or other dialects' syntax are taken on trust.
bool MaySpell(const Module& module, std::string_view text, TypeId type);

}  // namespace hespas::ir::verify
