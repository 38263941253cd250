// phi_fuzz.cpp -- any text gives a phi that can be built, or one clear Error with the character.
//
//   phi_fuzz tests/fuzz/corpus/phi
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "features/chain.h"
#include "features/phi_text.h"

namespace {

void check_message(std::string_view message) {
  LINNET_ASSERT(message.starts_with("[config.phi, character ") && message.size() < 1000);
  for (const char c : message) LINNET_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const size_t stages = linnet::parse_phi(text).size();
    LINNET_ASSERT(stages >= 1 && stages <= 64);
    linnet::ParamLayout layout;
    const linnet::FeatureChain chain = linnet::build_chain(layout, "phi", text, 2, 12);
    LINNET_ASSERT(chain.stages.size() == stages && chain.out > 0);
    LINNET_ASSERT(chain.stages.back().kind->positive);
  } catch (const linnet::Error& error) {
    check_message(error.what());
  }
  return 0;
}
