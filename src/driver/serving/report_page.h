// report.html of `hespas serve`: one self-contained page without a program; charts are SVG.
#pragma once

#include <string>

#include "driver/serving/serve.h"

namespace hespas::driver {

std::string ServePage(const ServeAnswer& answer);

}  // namespace hespas::driver
