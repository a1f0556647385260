// Files: reading whole inputs (plain, gzip, zstd, standard input) and writing outputs all or nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kCannotRead{
    "E0001",
    "A file that was named could not be opened or read. Check the path, the permissions and that it is a file."};
inline constexpr DiagnosticKind kCannotWrite{
    "E0002",
    "An output could not be written: the folder is missing or read-only, or the disk is full. Outputs are written to a "
    "temporary name and renamed, so no half-written file is left and older outputs are intact."};
inline constexpr DiagnosticKind kBadCompression{
    "E0003", "The file starts like gzip or zstd data, but its compressed stream is damaged or cut off."};
inline constexpr DiagnosticKind kInputTooLarge{
    "E0004", "An input is larger than the limit; compressed input is limited after decompression."};

// The whole content of `path`; "-" is standard input. gzip and zstd content is decompressed, whatever the name.
Result<std::string> ReadInput(const std::string& path);

// The bytes as they are; base/content.h reads large files without a copy.
Result<std::string> ReadRaw(const std::string& path);

// Writes `content` to a temporary name in the same folder and renames it over `path`.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

// Removes the temporary files of writes under way; safe to call from a signal handler.
void RemoveTemporaryFiles();

// Creates `path` and its parents; fails where something that is no folder is in the way.
Status MakeFolder(const std::filesystem::path& path);

}  // namespace hespas
