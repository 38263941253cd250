// utf8.h -- one character of UTF-8 at a time, from bytes and to bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace linnet {

struct Utf8Character {
  uint32_t code_point = 0;
  size_t length = 0;  // bytes; 0 where the text does not start with a character
};

// What `text`, not empty, starts with. Overlong forms, surrogates and numbers above U+10FFFF are no
// characters.
inline Utf8Character decode_utf8(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[i]); };
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  uint32_t c = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    c = c << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < kSmallest[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return {};
  return {c, length};
}

// A code point up to U+10FFFF as bytes.
inline void append_utf8(uint32_t c, std::string& out) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  const auto trail = [&](int shift) { add(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | c >> 6);
    trail(0);
  } else if (c < 0x10000) {
    add(0xe0 | c >> 12);
    trail(6);
    trail(0);
  } else {
    add(0xf0 | c >> 18);
    trail(12);
    trail(6);
    trail(0);
  }
}

// Offset of the first byte that belongs to no character; npos when all is well.
inline size_t find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Eight bytes of ASCII at once, since most text is that.
    for (uint64_t word = 0; at + 8 <= text.size(); at += 8) {
      std::memcpy(&word, text.data() + at, 8);
      if (word & 0x8080808080808080) break;
    }
    if (at == text.size()) break;
    const size_t length = decode_utf8(text.substr(at)).length;
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

inline bool is_utf8(std::string_view text) {
  return find_invalid_utf8(text) == std::string_view::npos;
}

}  // namespace linnet
