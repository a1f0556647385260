# Helpers for the root CMakeLists: one static library and one unit-test program per folder of src/.

# Reads cmake/layers.txt into HESPAS_LAYERS (in order) and HESPAS_SEES_<name>.
function(hespas_read_layers)
  file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/layers.txt lines REGEX "^[a-z]+:")
  set(layers "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z]+):(.*)$" _ "${line}")
    set(name ${CMAKE_MATCH_1})
    string(STRIP "${CMAKE_MATCH_2}" sees)
    string(REGEX REPLACE "/[a-z_]+" "" sees "${sees}")  # a sub-folder is linked with its layer
    string(REGEX REPLACE " +" ";" sees "${sees}")
    list(APPEND layers ${name})
    set(HESPAS_SEES_${name} "${sees}" PARENT_SCOPE)
  endforeach()
  set(HESPAS_LAYERS "${layers}" PARENT_SCOPE)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/layers.txt)
endfunction()

# Compiles the target's sources in batches (scripts/unity_batches.py): less than half the work of compiling each alone. CMake's own
# unity builds name files by absolute paths, so that no compiler cache serves a second copy of the tree.
function(hespas_batch target)
  get_target_property(sources ${target} SOURCES)
  if(NOT HESPAS_UNITY OR NOT sources)
    return()
  endif()
  set(script ${PROJECT_SOURCE_DIR}/scripts/unity_batches.py)
  set(folder ${PROJECT_BINARY_DIR}/batches/${target})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${HESPAS_UNITY_LINES} ${folder} ${sources}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE batches COMMAND_ERROR_IS_FATAL ANY)
  # An edit may bring a name that a neighbour has, too; where no renaming helps, CMake runs again.
  add_custom_command(OUTPUT ${batches} COMMAND ${Python3_EXECUTABLE} ${script} --refresh ${folder} DEPENDS ${script}
                     DEPFILE ${folder}/batches.d COMMENT "" VERBATIM)
  set_target_properties(${target} PROPERTIES SOURCES "${batches}")
  set(again ${PROJECT_BINARY_DIR}/batches/sort_again)
  file(WRITE ${again} "")
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${again})
endfunction()

# For code whose speed does not matter: tests and what a command does once.
function(hespas_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Library hespas_<name> from src/<name>/**.cc, and hespas_<name>_test from the *_test.cc beside them.
function(hespas_add_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/src/engines/(simgrid|sst)/")  # libraries of their own (cmake/engines.cmake)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM HESPAS_SEES_${name} PREPEND hespas_ OUTPUT_VARIABLE links)
  if(sources)
    add_library(hespas_${name} STATIC ${sources})
    hespas_batch(hespas_${name})
    set(scope PUBLIC)
  else()
    add_library(hespas_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(hespas_${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/hespas>)
  target_link_libraries(hespas_${name} ${scope} hespas_options ${links} ${HESPAS_LIBS_${name}})
  if(tests AND HESPAS_TESTS)
    add_executable(hespas_${name}_test ${tests})
    hespas_batch(hespas_${name}_test)
    hespas_compile_quickly(hespas_${name}_test)
    target_link_libraries(hespas_${name}_test PRIVATE hespas_${name} GTest::gmock GTest::gtest_main)
    target_compile_definitions(hespas_${name}_test PRIVATE HESPAS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_dependencies(unit_tests hespas_${name}_test)
    add_test(NAME unit.${name} COMMAND hespas_${name}_test)
    set_tests_properties(unit.${name} PROPERTIES LABELS "fast;unit")
  endif()
endfunction()
