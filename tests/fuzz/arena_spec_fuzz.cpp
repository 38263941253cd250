// arena_spec_fuzz.cpp -- any bytes give what an arena compares, or one clear Error with the field.
//
//   arena_spec_fuzz tests/fuzz/corpus/arena_spec
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "train/arena_spec.h"

namespace {

void check_message(std::string_view message) {
  LINNET_ASSERT(message.starts_with("[") && message.size() < 2000);
  for (const char c : message) LINNET_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const linnet::ArenaSpec spec = linnet::parse_arena_spec(text, "f");
    for (const linnet::ArenaRow& row : spec.rows)
      linnet::arena_model("desk", "listops", spec.settings, row);
  } catch (const linnet::Error& error) {
    check_message(error.what());
  }
  return 0;
}
