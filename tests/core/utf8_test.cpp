// utf8_test.cpp -- every code point goes to bytes and back; nothing else is a character.
#include "core/utf8.h"

#include <gtest/gtest.h>

namespace linnet {
namespace {

TEST(Utf8Test, EveryCodePointComesBack) {
  std::string bytes;
  for (uint32_t c = 0; c <= 0x10ffff; ++c) {
    bytes.clear();
    append_utf8(c, bytes);
    const bool surrogate = c >= 0xd800 && c <= 0xdfff;
    ASSERT_EQ(decode_utf8(bytes).length, surrogate ? 0 : bytes.size()) << c;
    if (!surrogate) {
      ASSERT_EQ(decode_utf8(bytes).code_point, c);
    }
    // Cut short it is no character.
    if (c >= 0x80) {
      ASSERT_EQ(decode_utf8(bytes.substr(0, bytes.size() - 1)).length, 0u) << c;
    }
  }
}

TEST(Utf8Test, OtherBytesAreNoCharacters) {
  for (const std::string_view bytes :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xfe",
        "\xff", "\xc3(", "\xe2\x82(", "\xe2(\xa1"}) {
    EXPECT_EQ(decode_utf8(bytes).length, 0u) << bytes;
    EXPECT_FALSE(is_utf8(bytes));
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa6"));
  EXPECT_FALSE(is_utf8("fine, then \xff"));
}

}  // namespace
}  // namespace linnet
