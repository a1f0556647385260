// The Python prototype's cache folders, taken over into a file of kept estimates.
#pragma once

#include <cstdint>
#include <string>

#include "base/diagnostic.h"
#include "base/result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNotImported{
    "W0925",
    "Some files of the prototype's cache could not be imported: they are damaged, record a failure, belong to an "
    "estimator that is not built in, or the block module that they name is missing. Hespas estimates these blocks "
    "again."};
inline constexpr DiagnosticKind kNoPrototypeCache{"E0926", "The folder holds no cache files of the Python prototype."};

struct CacheImport {
  int64_t imported = 0;
  int64_t skipped = 0;
};

// Reads every file of `folder` (the prototype's `cache_dir`) and keeps its estimate in the cache file `path`, under the
// structure of the block module that it names, its estimator and its figures: runs with --compat prototype find it.
// Block modules are looked for where the file says and beside the cache folder.
Result<CacheImport> ImportPrototypeCache(const std::string& path, const std::string& folder, Diagnostics& diagnostics);

}  // namespace hespas::driver
