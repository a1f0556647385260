// hespas_onnxim_estimator: one program as a whole, its products by ONNXim's Simulator.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("onnxim", argc, argv); }
