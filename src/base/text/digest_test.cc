#include "base/text/digest.h"

#include <gtest/gtest.h>

namespace hespas {
namespace {

// FIPS 180, examples of NIST.
TEST(Digest, OfAbc) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Base64(Sha1("abc")), "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
}

// RFC 4648, section 10.
TEST(Digest, WritesBase64) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xfb\xff"), "+/8=");
}

}  // namespace
}  // namespace hespas
