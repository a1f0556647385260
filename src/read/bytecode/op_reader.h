// Reads the IR section into a module: operations, blocks, regions, values.
#pragma once

#include "read/bytecode/decoder.h"

namespace hespas::read::bytecode {

// Fills `module`, whose root becomes the file's first operation (a builtin.module).
void ReadOperations(std::string_view bytes, const Container& container, Decoder& decoder, ir::Module& module,
                    TextArena& arena, Failure& failure);

}  // namespace hespas::read::bytecode
