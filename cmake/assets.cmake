# Files that the program carries: those of data/report, and ECharts where scripts/npm_env.sh has fetched it.
set(HESPAS_ECHARTS_SHA256 b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0)  # dist/echarts.min.js of 6.1.0
set(HESPAS_ECHARTS "" CACHE FILEPATH "echarts.min.js for report.html; by default the one that bootstrap.sh fetched")

function(hespas_find_echarts out)
  set(found ${HESPAS_ECHARTS})
  if(NOT found)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/npm_env.sh report --cached OUTPUT_VARIABLE modules
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(found ${modules}/echarts/dist/echarts.min.js)
  endif()
  set(digest "")
  if(EXISTS ${found})
    file(SHA256 ${found} digest)
  endif()
  if(digest STREQUAL HESPAS_ECHARTS_SHA256)
    set(${out} ${found} PARENT_SCOPE)
  else()
    if(digest)
      message(WARNING "${found} is not the pinned version of ECharts; reports will have tables instead of charts")
    endif()
    file(WRITE ${PROJECT_BINARY_DIR}/no_charts.js "")
    set(${out} ${PROJECT_BINARY_DIR}/no_charts.js PARENT_SCOPE)
  endif()
endfunction()

# Writes a source file that includes the files' bytes; the assembler reads them, so that no generator is needed.
function(hespas_add_assets target)
  hespas_find_echarts(echarts)
  set(folder ${PROJECT_SOURCE_DIR}/data/report)
  set(source ${PROJECT_BINARY_DIR}/report_assets.cc)
  # ccache does not see what .incbin reads: the digests make another source of it.
  set(digests)
  foreach(file page.html page.css page.js compare.html)
    file(SHA256 ${folder}/${file} digest)
    list(APPEND digests ${digest})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/report_assets.cc.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES
    OBJECT_DEPENDS "${folder}/page.html;${folder}/page.css;${folder}/page.js;${folder}/compare.html;${echarts}")
  target_sources(${target} PRIVATE ${source})
endfunction()
