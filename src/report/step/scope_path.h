// What a framework's name ("jit(step)/transpose(jvp(decoder))/layers_3/mlp/dot_general") tells a reader.
//
// - Wrappers of JAX (jit, loops, checkpoints) and the operation itself, the last part, are no scopes.
#pragma once

#include <string>
#include <string_view>

namespace hespas::report {

// "decoder/layers_3/mlp"; "decoder/layers_3/mlp (backward)" of a transposed one, "(recomputed)" of a rematerialised
// one; "" where no scope remains.
std::string ScopePath(std::string_view framework_name);

// The numbered part ("layers_3", "layers/3"), else the first scope, else "".
std::string LayerOf(std::string_view framework_name);

// "layers_*/mlp" of "layers_3/mlp": what layers of one stack share. Only the first number counts.
std::string AllLayers(std::string_view scope_path);

}  // namespace hespas::report
