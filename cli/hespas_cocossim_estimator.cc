// hespas_cocossim_estimator: one program as a whole, its products by COCOSSim's perf_model.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("cocossim", argc, argv); }
