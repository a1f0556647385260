// The framework's name of an operation ("jit(step)/decoder/layers_0/mlp/dot_general"), from MLIR locations and from HLO
// metadata. JAX writes the path of scopes as one name, or as a name within names.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"

namespace hespas::ir {

// Attributes of an op that hold its name and nothing that it computes.
bool HoldsName(std::string_view attribute);

// What an op's name attribute says; "" where it says no name: unknown places, lines of files.
std::string NameIn(const Module& module, const Attribute& attribute);

// Whether any op of the module has such an attribute: looked up once, so that programs without names cost nothing.
bool HasNames(const Module& module);

// What the op's attributes say; "" where they say nothing.
std::string OwnFrameworkName(const Module& module, OpId op);

// The name of an op of a called function within its caller: "jit(f)/mlp/jit(silu)" and "neg" are
// "jit(f)/mlp/jit(silu)/neg", as XLA's call inliner joins them. A name that tells another caller's path gets this
// one's.
std::string NameInCaller(std::string_view call, std::string_view inner);

// The location that says `name`, as the text of the attribute `loc`.
std::string LocationText(std::string_view name);

}  // namespace hespas::ir
