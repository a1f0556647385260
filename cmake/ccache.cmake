# Compiles through ccache where it works: it fails, and the compilation with it, where its folder cannot be written.
find_program(CCACHE ccache)
if(CCACHE)
  string(RANDOM LENGTH 16 unknown)  # what a read-only folder holds already would pass
  file(WRITE ${CMAKE_BINARY_DIR}/ccache.cc "int probe_${unknown};")
  execute_process(COMMAND ${CCACHE} ${CMAKE_CXX_COMPILER} -c ccache.cc -o ccache.o WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  endif()
endif()
