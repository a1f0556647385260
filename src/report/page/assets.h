// The files of data/report and ECharts, held in the program (cmake/assets.cmake).
#pragma once

#include <string_view>

namespace hespas::report::assets {

std::string_view PageHtml();
std::string_view PageCss();
std::string_view PageJs();
std::string_view ShellJs();  // of all pages
std::string_view LiveJs();   // of a run's page, in this order
std::string_view LiveSectionJs();
std::string_view KernelJs();
std::string_view GraphJs();
std::string_view GraphSectionJs();
std::string_view SweepJs();  // of a sweep's page
std::string_view Echarts();  // empty where the build had none

}  // namespace hespas::report::assets
