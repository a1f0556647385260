# Network engines in libraries of their own, built where what they stand on is found: folders of src/ that are layers
# of cmake/layers.txt but no part of the programs, which load them when asked for.
list(REMOVE_ITEM HESPAS_LAYERS flow)

find_path(SIMGRID_INCLUDE simgrid/s4u.hpp)
find_library(SIMGRID_LIBRARY simgrid)
if(SIMGRID_INCLUDE AND SIMGRID_LIBRARY)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/flow/*.cc)
  add_library(hespas_simgrid MODULE ${sources})
  target_include_directories(hespas_simgrid PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(hespas_simgrid SYSTEM PRIVATE ${SIMGRID_INCLUDE})
  target_link_libraries(hespas_simgrid PRIVATE hespas_options fmt::fmt ${SIMGRID_LIBRARY})
  set_target_properties(hespas_simgrid PROPERTIES CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY
                                                  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  install(TARGETS hespas_simgrid LIBRARY DESTINATION lib/hespas COMPONENT engines)
endif()
