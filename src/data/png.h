// png.h -- a PNG in memory as grey pixels.
#pragma once

#include <string>
#include <string_view>

namespace linnet {

// Row by row, one byte a pixel, into `pixels`; colour becomes grey. Returns the width; a broken or
// huge image is an Error with `place` in brackets.
size_t decode_png(std::string_view file, const std::string& place, std::string& pixels);

}  // namespace linnet
