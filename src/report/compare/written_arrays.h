// What a kernel writes, from the text of its shapes: what is alike between compilers that lay it out differently.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hespas::report {

// What is written, as "f16[8,64], f32[64]". Of a library's call the workspace does not count, and of a collective that
// only starts the operands do not: "!mhlo.async_bundle<tuple<operands>, tuple<results>>".
std::string Results(const std::string& shapes);

// The extents of each array in any order, whatever its type and its dimensions of 1: {4096, 9} of "f32[1,9,4096]".
// Compilers transpose what they write.
std::vector<std::vector<int64_t>> Arrays(std::string_view shapes);

double Elements(const std::vector<int64_t>& extents);

// Of the array with most elements; none where there is no array.
std::vector<int64_t> LargestOf(const std::vector<std::vector<int64_t>>& arrays);
std::string LargestIn(const std::string& shapes);

}  // namespace hespas::report
