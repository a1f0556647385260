// hespas_pjrt_estimator: one program as a whole, measured with a PJRT plugin.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("pjrt", argc, argv); }
