// hespas_genz_estimator: one program as a whole, its products by GenZ's operator formula.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("genz", argc, argv); }
