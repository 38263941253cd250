// event_file.cpp -- TFRecords and protobuf by hand: five kinds of fields are all that is needed.
#include "train/event_file.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <chrono>

#include "core/folder.h"

namespace linnet {
namespace {

// Little-endian, whatever the machine.
template <class Number>
std::string bytes_of(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(Number); ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// A field is its number and wire type in one varint, then its value.
enum Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
std::string key(uint64_t field, Wire wire) { return varint(field << 3 | wire); }
std::string whole(uint64_t field, uint64_t value) { return key(field, kVarint) + varint(value); }
std::string text(uint64_t field, std::string_view value) {
  return key(field, kBytes) + varint(value.size()) + std::string(value);
}
std::string number(uint64_t field, double value) {
  return key(field, kFixed64) + bytes_of(std::bit_cast<uint64_t>(value));
}
std::string number(uint64_t field, float value) {
  return key(field, kFixed32) + bytes_of(std::bit_cast<uint32_t>(value));
}

// Event {1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log}
// Summary {1 value}, Value {1 tag, 2 simple_value}, SessionLog {1 status}
constexpr uint64_t kStart = 1;  // SessionLog.START

uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8; }

// Numbered, since the clock can go back, and two starts can be in one second.
std::filesystem::path new_name(const std::filesystem::path& folder) {
  make_folders(folder);
  for (int i = 1;; ++i) {
    const std::filesystem::path path = folder / fmt::format("events.out.tfevents.{:06}.linnet", i);
    if (!std::filesystem::exists(path)) return path;
  }
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78 : 0);
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path& folder, int64_t next) : file_(new_name(folder)) {
  append(0, text(3, "brain.Event:2"));
  append(next, text(7, whole(1, kStart)));
}

void EventFile::append(int64_t step, std::string_view fields) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string event = number(1, now) + whole(2, static_cast<uint64_t>(step));
  event += fields;
  const std::string length = bytes_of(uint64_t{event.size()});
  file_.append(length + bytes_of(masked(crc32c(length))) + event + bytes_of(masked(crc32c(event))));
}

void EventFile::write(int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars)
    summary += text(1, text(1, scalar.tag) + number(2, static_cast<float>(scalar.value)));
  append(step, text(5, summary));
}

}  // namespace linnet
