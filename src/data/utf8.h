// utf8.h -- where a text stops being UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace linnet {

// Offset of the first byte that belongs to no well-formed character (overlong forms, surrogates and
// what is beyond Unicode are not well formed); npos when all is well.
size_t find_invalid_utf8(std::string_view text);

}  // namespace linnet
