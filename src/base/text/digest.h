// Digests that others can check, and Base64. Without HESPAS_WITH_OPENSSL the program that links the libraries defines
// the functions.
#pragma once

#include <string>
#include <string_view>

namespace hespas {

// SHA-256 in hexadecimal, for naming inputs so that anyone can check them with sha256sum.
std::string Sha256Hex(std::string_view bytes);

// The 20 bytes of a SHA-1 digest; only for formats that ask for it.
std::string Sha1(std::string_view bytes);

// With `+`, `/` and padding.
std::string Base64(std::string_view bytes);

}  // namespace hespas
