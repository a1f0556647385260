// One command line from its words to its exit status.
#pragma once

namespace hespas::cli {

// Runs the command that `argv` says, or the prototype's command that the program is named as. Returns the exit status:
// 2 where the command line is wrong, one of its own where memory ran out or the program is at fault.
int RunProgram(int argc, char** argv);

}  // namespace hespas::cli
