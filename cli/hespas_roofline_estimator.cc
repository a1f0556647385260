// hespas_roofline_estimator: the prototype's stand-alone estimator, with its documented options.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("roofline", argc, argv); }
