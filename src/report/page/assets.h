// The files of data/report and ECharts, held in the program (cmake/assets.cmake).
#pragma once

#include <string_view>

namespace hespas::report::assets {

std::string_view PageHtml();
std::string_view PageCss();
std::string_view PageJs();
std::string_view CompareHtml();
std::string_view Echarts();  // empty where the build had none

}  // namespace hespas::report::assets
