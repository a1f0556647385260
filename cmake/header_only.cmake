# For compilers that have libraries of another machine or none: fmt, spdlog and their like from headers alone. The folder of links keeps
# the machine's own headers beside them out of sight.
set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(name fmt spdlog CLI nlohmann protozero fast_float xxhash.h xxh3.h)
  file(CREATE_LINK ${HESPAS_HEADERS}/${name} ${headers}/${name} SYMBOLIC)
endforeach()
foreach(name fmt::fmt spdlog::spdlog CLI11::CLI11 nlohmann_json::nlohmann_json)
  add_library(${name} INTERFACE IMPORTED)
  target_include_directories(${name} SYSTEM INTERFACE ${headers})
  target_compile_definitions(${name} INTERFACE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL XXH_INLINE_ALL)
endforeach()
include_directories(SYSTEM ${headers})  # protozero and xxHash have no target
