// autotune_fuzz.cpp -- any bytes are the record of a search, or give one clear Error with the line.
//
//   autotune_fuzz tests/fuzz/corpus/autotune
#include <cstdint>

#include "tests/fuzz/run_fuzz.h"
#include "train/run_identity.h"
#include "train/search_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr linnet::SearchSize kSize{.candidates = 8, .rounds = 3};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const linnet::SearchRecord record = linnet::parse_search(text, "f", kSize, "accuracy");
    LINNET_ASSERT(linnet::with_defaults(record.asked).is_object());
    LINNET_ASSERT(!record.chosen || *record.chosen < kSize.candidates);
    for (const linnet::TuningLook& look : record.looks)
      LINNET_ASSERT(look.candidate < kSize.candidates && look.round >= 1 &&
                    look.round <= kSize.rounds && look.steps >= 0);
  } catch (const linnet::Error& error) {
    linnet::check_message(error.what());
  }
  return 0;
}
