// hespas_xla_estimator: one program as a whole, measured with XLA's xla-translate and hlo_runner_main.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("xla", argc, argv); }
