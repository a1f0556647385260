// hespas_<name>_estimator: the prototype's stand-alone estimators, with their documented options.
#pragma once

#include <string>

namespace hespas::cli {

int RunStandAlone(const std::string& estimator, int argc, char** argv);

}  // namespace hespas::cli
