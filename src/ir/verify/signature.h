// A function's type as its `function_type` text writes it: "(tensor<2xf32>, i32) -> tensor<f32>".
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace hespas::ir::verify {

struct SignatureType {
  std::string_view text;
  TypeId known = {};  // a type that the text was found to spell
};
struct Signature {
  std::vector<SignatureType> inputs;
  std::vector<SignatureType> results;
};

std::optional<Signature> AsSignature(std::string_view text);
// Of func.func ops; a text that many functions share is taken apart once.
class SignatureTable {
 public:
  // nullptr where the function has no readable type; valid until the next call.
  Signature* Of(const Module& module, OpId function);

 private:
  std::unordered_map<const char*, std::optional<Signature>> known_;  // by where the text stands
};

// Whether the text may spell the type; types with aliases, encodings or other dialects' syntax are taken on trust.
bool MaySpell(const Module& module, SignatureType& signature, TypeId type);

}  // namespace hespas::ir::verify
