// Between modules and their working form.
//
// - Import takes the executed part of a module: main, loop and branch bodies; calls are expanded where asked.
// - Export builds a new module: main and, unchanged, whatever functions and meshes are still referred to.
#pragma once

#include <memory>

#include "base/result.h"
#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

struct ImportOptions {
  bool inline_calls = true;
};

// Null where an op reads a value of another block that is not around it.
std::unique_ptr<Dataflow> Import(ir::Module& source, ir::OpId main, const ImportOptions& options);

// `scheduled`: what is held follows from the order.
ir::Module Export(const Dataflow& flow, ir::OpId main, bool scheduled);

}  // namespace hespas::optimise
