// protozero's reader with its assertions as exceptions: a field of another wire type than its number promises is damage
// in the input, in every build. Callers catch std::exception at their edge. Include this instead of protozero's own
// header.
#pragma once

#include <stdexcept>

#ifdef PROTOZERO_PBF_READER_HPP
#error "base/protozero_reader.h must come before protozero/pbf_reader.hpp"
#endif
#define protozero_assert(condition) \
  ((condition) ? void() : throw std::invalid_argument("a field has an unexpected wire type"))
#include <protozero/pbf_reader.hpp>
