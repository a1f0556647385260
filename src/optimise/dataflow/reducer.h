// What a reduction or an all-reduce combines two values with.
#pragma once

#include "ir/module.h"

namespace hespas::optimise {

// The one binary op of `origin`'s region, on its two arguments in order; kUnknown for any other region.
ir::OpKind ReducerKind(const ir::Module& source, ir::OpId origin);

// An op outside the program whose region combines two scalars as `origin`'s does, in the element type of `like`;
// invalid where ReducerKind() is unknown.
ir::OpId ReducerFor(ir::Module& source, ir::OpId origin, ir::TypeId like);

}  // namespace hespas::optimise
