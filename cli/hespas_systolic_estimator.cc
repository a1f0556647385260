// hespas_systolic_estimator: one program as a whole, its products by cycles of a weight-stationary array.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("systolic", argc, argv); }
