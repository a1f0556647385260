// hespas_<name>_estimator: the prototype's stand-alone estimators, with their documented options.
#pragma once

namespace hespas::cli {

int RunStandAlone(const char* estimator, int argc, char** argv);

}  // namespace hespas::cli
