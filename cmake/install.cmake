# What `cmake --install` and `cpack` put where, in three components:
#
#   runtime      bin/, share/hespas (devices, systems, schemas), manual pages, completions     every package
#   bundle       lib/hespas: the shared libraries that the commands use                         the tarball alone
#   development  libraries, headers and the CMake package `hespas`                              libhespas-dev alone
include(GNUInstallDirs)

# A command of the runtime, which also looks for shared libraries beside itself: there the tarball carries them.
function(hespas_install_command target)
  # In the build folder, too: CMake would make room for the path by empty ones, and these mean the current folder.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/hespas" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${target} RUNTIME_DEPENDENCY_SET hespas_shared RUNTIME COMPONENT runtime)
endfunction()

# Everything else, once all commands are known.
function(hespas_install_all)
  install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/hespas COMPONENT runtime)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT runtime)
  install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
  install(CODE "execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/third_party.py ${PROJECT_BINARY_DIR}/third_party
      $<TARGET_FILE:hespas> $<TARGET_FILE:hespas_pjrt_worker> COMMAND_ERROR_IS_FATAL ANY)" COMPONENT runtime)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/third_party/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
  install(RUNTIME_DEPENDENCY_SET hespas_shared PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux"
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hespas COMPONENT bundle EXCLUDE_FROM_ALL)

  list(TRANSFORM HESPAS_LAYERS PREPEND hespas_ OUTPUT_VARIABLE libraries)
  install(TARGETS hespas_options ${libraries} EXPORT hespas
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development EXCLUDE_FROM_ALL)
  set(cmake ${CMAKE_INSTALL_LIBDIR}/cmake/hespas)
  install(EXPORT hespas NAMESPACE hespas:: FILE hespas-libraries.cmake DESTINATION ${cmake} COMPONENT development EXCLUDE_FROM_ALL)
  install(DIRECTORY src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hespas COMPONENT development EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.h")
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/hespasConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES cmake/hespasConfig.cmake cmake/dependencies.cmake ${PROJECT_BINARY_DIR}/hespasConfigVersion.cmake
          DESTINATION ${cmake} COMPONENT development EXCLUDE_FROM_ALL)
endfunction()

# cpack -G DEB: hespas and libhespas-dev, which use the distribution's libraries. cpack -G TGZ: one relocatable folder.
set(CPACK_PACKAGE_CONTACT "the Hespas contributors <hespas@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Predicts how fast a distributed machine-learning program runs on a device and a network")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME hespas-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/cpack.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME hespas)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhespas-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "cmake, g++, libfmt-dev, libspdlog-dev, libcli11-dev, nlohmann-json3-dev, \
libyaml-cpp-dev, libsqlite3-dev, zlib1g-dev, libzstd-dev, libexpat1-dev, libssl-dev, libxxhash-dev, libprotozero-dev")
include(CPack)
