// png.cpp -- libpng's simplified interface, which keeps its jumps to itself.
#include "data/png.h"

#include <fmt/format.h>
#include <png.h>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

size_t decode_png(std::string_view file, const std::string& place, std::string& pixels) {
  constexpr size_t kMaxSide = 1 << 13;  // a sequence of 64 Mi tokens
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  const auto fail = [&](std::string_view what) {
    png_image_free(&image);
    throw Error(fmt::format("[{}] {}", place, what));
  };
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0)
    fail(fmt::format("is no PNG image: {}", printable(image.message)));
  if (image.width > kMaxSide || image.height > kMaxSide) {
    fail(
        fmt::format("is {} x {} pixels, more than {} a side", image.width, image.height, kMaxSide));
  }
  image.format = PNG_FORMAT_GRAY;
  pixels.resize(PNG_IMAGE_SIZE(image));
  const png_color black = {};  // under what is transparent
  if (png_image_finish_read(&image, &black, pixels.data(), 0, nullptr) == 0)
    fail(fmt::format("is a broken PNG image: {}", printable(image.message)));
  return image.width;
}

}  // namespace linnet
