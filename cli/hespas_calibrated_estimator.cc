// hespas_calibrated_estimator: one program as a whole with the calibrated model.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("calibrated", argc, argv); }
