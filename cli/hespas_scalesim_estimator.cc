// hespas_scalesim_estimator: one program as a whole, its products by cycles of an array without memory.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("scalesim", argc, argv); }
