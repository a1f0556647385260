// Regions of ops that passes make: what a reduction or an all-reduce combines two values with, and others.
#pragma once

#include <string_view>

#include "ir/module.h"

namespace hespas::optimise {

// The one binary op of `origin`'s region, on its two arguments in order; kUnknown for any other region.
ir::OpKind ReducerKind(const ir::Module& source, ir::OpId origin);

// An op outside the program whose region combines two scalars as `origin`'s does, in the element type of `like`;
// invalid where ReducerKind() is unknown.
ir::OpId ReducerFor(ir::Module& source, ir::OpId origin, ir::TypeId like);

// An op outside the program for a region, as the origin of a node.
ir::OpId RegionHolder(ir::Module& source, std::string_view name, ir::RegionId region);
// A tensor without dimensions: i32, f32, ...
ir::TypeId ScalarType(ir::Module& source, std::string_view element);

}  // namespace hespas::optimise
