# Headers that most sources read, parsed once for each way to compile; for clang, where a test under sanitizers then takes two fifths less
# and a library at -O0 an eighth. GCC gains nothing by them, so the builds that people wait for first go without (bench/results.md).
set(HESPAS_HEADERS <algorithm> <array> <charconv> <chrono> <cmath> <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex>
    <numeric> <optional> <queue> <random> <set> <span> <sstream> <string> <string_view> <tuple> <unordered_map> <unordered_set> <variant>
    <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)
if(HESPAS_TESTS)
  list(APPEND HESPAS_HEADERS <gmock/gmock.h> <gtest/gtest.h>)
endif()

# To call when the target's options and properties stand: headers serve targets with the same ones alone.
function(hespas_precompile target)
  if(NOT HESPAS_SANITIZE OR NOT HESPAS_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(uncounted ${target} HESPAS_UNCOUNTED)
  set(provider hespas_headers)
  if(options MATCHES "-O0")
    string(APPEND provider _quick)
  endif()
  if(uncounted)
    string(APPEND provider _uncounted)
  endif()
  if(NOT TARGET ${provider})
    file(WRITE ${PROJECT_BINARY_DIR}/headers.cc "")
    add_library(${provider} OBJECT ${PROJECT_BINARY_DIR}/headers.cc)
    target_precompile_headers(${provider} PRIVATE ${HESPAS_HEADERS})
    # Without times a compiler cache finds the same file again.
    target_compile_options(${provider} PRIVATE "SHELL:-Xclang -fno-pch-timestamp" $<$<BOOL:${options}>:${options}>)
    set_target_properties(${provider} PROPERTIES HESPAS_UNCOUNTED "${uncounted}")
    target_link_libraries(${provider} PRIVATE hespas_options fmt::fmt nlohmann_json::nlohmann_json $<$<BOOL:${HESPAS_TESTS}>:GTest::gmock>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${provider})
endfunction()
