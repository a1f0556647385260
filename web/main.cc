// The command in an Emscripten module; callMain of JavaScript gives the arguments.
#include "cli/program.h"

int main(int argc, char** argv) { return hespas::cli::RunProgram(argc, argv); }
