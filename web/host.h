// What the program asks its host: JavaScript (web/javascript_host.cc), in a test of this machine C++ (tests/web/native_host.cc).
#pragma once

#include <cstddef>
#include <cstdint>

// Bytes in memory of malloc, behind 4 bytes with their number.
using HostAnswer = uint8_t*;
inline const HostAnswer kHostOutOfMemory = reinterpret_cast<HostAnswer>(uintptr_t{1});

// `name`: gzip, zstd (decompression), sha256, sha1, base64. Null where the data are damaged.
extern "C" HostAnswer HostCodec(const char* name, const char* data, size_t size);
