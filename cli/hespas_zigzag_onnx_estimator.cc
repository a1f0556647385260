// hespas_zigzag_onnx_estimator: one program as a whole, its products by ZigZag.
#include "cli/stand_alone.h"

int main(int argc, char** argv) { return hespas::cli::RunStandAlone("zigzag_onnx", argc, argv); }
