// utf8.cpp -- validation by Unicode's table of well-formed sequences (standard, table 3-7).
#include "data/utf8.h"

#include <cstdint>
#include <cstring>

namespace linnet {

size_t find_invalid_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = text.size();
  size_t at = 0;
  while (at < size) {
    // Eight bytes of ASCII at once, since most text is that.
    for (uint64_t word = 0; at + 8 <= size; at += 8) {
      std::memcpy(&word, text.data() + at, 8);
      if (word & 0x8080808080808080) break;
    }
    if (at == size) break;
    const unsigned first = byte(at);
    if (first < 0x80) {
      ++at;
      continue;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || size - at < length) return at;
    // Only the second byte has bounds of its own, which shut out overlong forms, surrogates and
    // what is beyond U+10FFFF.
    const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(at + 1) < low || byte(at + 1) > high) return at;
    for (size_t i = 2; i < length; ++i) {
      if ((byte(at + i) & 0xc0) != 0x80) return at;
    }
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace linnet
