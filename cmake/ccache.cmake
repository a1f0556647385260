# Compiles through ccache where it works: it fails, and the compilation with it, where its folder cannot be written.
include_guard(GLOBAL)
find_program(CCACHE ccache)
if(CCACHE)
  # Nothing is preprocessed beside the compilation. Objects without debug information are the same wherever the tree lies,
  # the source package's (tests/python/package.sh) as well.
  # Precompiled headers pass only with this sloppiness (ccache's manual); no source uses __TIME__ or __DATE__.
  set(settings CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH tree)
    list(APPEND settings CCACHE_BASEDIR=${tree} CCACHE_NOHASHDIR=1)
  endif()
  string(RANDOM LENGTH 16 unknown)  # what a read-only folder holds already would pass
  file(WRITE ${CMAKE_BINARY_DIR}/ccache.cc "int probe_${unknown};")
  execute_process(COMMAND ${CCACHE} ${CMAKE_CXX_COMPILER} -c ccache.cc -o ccache.o WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${settings} ${CCACHE})
  endif()
endif()
