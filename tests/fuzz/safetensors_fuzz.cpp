// safetensors_fuzz.cpp -- any bytes give tensors that can be read, or one clear Error.
//
//   safetensors_fuzz tests/fuzz/corpus/safetensors
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "models/safetensors.h"

namespace {

// A message must be short and must not steer a terminal.
void check_message(std::string_view message) {
  LINNET_ASSERT(message.starts_with("[fuzz] ") && message.size() < 1000);
  for (const char c : message) LINNET_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

void check_file(std::span<const std::byte> bytes) try {
  const auto file = linnet::SafetensorsFile::parse(bytes, "fuzz");
  size_t total = 0;
  for (const auto& [name, info] : file.tensors()) {
    total += info.end - info.begin;
    std::vector<float> out((info.end - info.begin + 3) / sizeof(float));
    try {
      file.read(name, out.data(), info.shape);
      LINNET_ASSERT(info.dtype == "F32");
    } catch (const linnet::Error& error) {
      LINNET_ASSERT(info.dtype != "F32");
      check_message(error.what());
    }
  }
  LINNET_ASSERT(total < bytes.size());
} catch (const linnet::Error& error) {
  check_message(error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_file(std::as_bytes(std::span(data, size)));
  if (size == 0) return 0;
  // Once more with a length that fits, since mutations that insert or remove seldom keep it: the
  // first byte is the size of the data, the others are the header.
  std::vector<uint8_t> framed(sizeof(uint64_t));
  const uint64_t length = size - 1;
  std::memcpy(framed.data(), &length, sizeof length);
  framed.insert(framed.end(), data + 1, data + size);
  framed.resize(framed.size() + data[0]);
  check_file(std::as_bytes(std::span(framed)));
  return 0;
}
