# Network engines in libraries of their own (src/engines/simgrid and sst), built where what they stand on is found. The
# programs load them when asked for.
find_path(SIMGRID_INCLUDE simgrid/s4u.hpp)
find_library(SIMGRID_LIBRARY simgrid)
if(SIMGRID_INCLUDE AND SIMGRID_LIBRARY)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/engines/simgrid/*.cc)
  add_library(hespas_simgrid MODULE ${sources})
  target_include_directories(hespas_simgrid PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(hespas_simgrid SYSTEM PRIVATE ${SIMGRID_INCLUDE})
  target_link_libraries(hespas_simgrid PRIVATE hespas_options fmt::fmt ${SIMGRID_LIBRARY})
  set_target_properties(hespas_simgrid PROPERTIES CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY
                                                  ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  install(TARGETS hespas_simgrid LIBRARY DESTINATION lib/hespas COMPONENT engines)
endif()

# SST's element library, which sst loads: libhespas.so. Without SST the element is compiled against declarations of our
# own (tests/stubs/sst).
find_program(SST_CONFIG sst-config)
function(hespas_add_sst_element)
  if(SST_CONFIG)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    execute_process(COMMAND ${SST_CONFIG} --includedir OUTPUT_VARIABLE include OUTPUT_STRIP_TRAILING_WHITESPACE)
    add_library(hespas_sst MODULE src/engines/sst/element.cc src/engines/sst/endpoint.cc)
    target_include_directories(hespas_sst SYSTEM PRIVATE ${include})
    target_link_libraries(hespas_sst PRIVATE hespas_engines)
    set_target_properties(hespas_sst PROPERTIES PREFIX "" OUTPUT_NAME libhespas CXX_VISIBILITY_PRESET default
                                                LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/sst)
    install(TARGETS hespas_sst LIBRARY DESTINATION lib/hespas/sst COMPONENT engines)
  endif()
endfunction()
