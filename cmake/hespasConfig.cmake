# find_package(hespas) then link hespas::hespas_driver (or a lower layer, cmake/layers.txt); #include "driver/pipeline/run.h"
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/hespas-libraries.cmake)
