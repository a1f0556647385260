// hespas_iree_estimator: one program as a whole, measured with iree-compile and iree-benchmark-module.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("iree", argc, argv); }
