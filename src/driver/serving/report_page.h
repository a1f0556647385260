// report.html of `hespas serve`: one self-contained page without a program; charts are SVG.
#pragma once

#include <string>

#include "driver/serving/search/search.h"

namespace hespas::driver {

std::string ServePage(const ServeAnswer& answer);
std::string SearchPage(const SearchAnswer& answer, const ServeOptions& options);

}  // namespace hespas::driver
