# Emscripten: exceptions of WebAssembly, and what its C++ library lacks. Its size_t has 32 bits: warnings of conversions are left to
# the builds whose size_t has 64.
list(REMOVE_ITEM warnings -Wconversion -Werror)
add_compile_options(-fwasm-exceptions -include ${PROJECT_SOURCE_DIR}/web/missing_from_libcxx.h)
add_link_options(-fwasm-exceptions)
