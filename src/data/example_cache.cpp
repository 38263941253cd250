// example_cache.cpp -- lists of numbers to bytes and back.
#include "data/example_cache.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace linnet {
namespace {

template <class Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class Number>
Number take(const char*& at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  at += sizeof number;
  return number;
}

template <class Narrow>
void put_all(std::string& out, const std::vector<int32_t>& list) {
  for (const int32_t number : list) put(out, static_cast<Narrow>(number));
}

template <class Narrow>
void take_all(const char*& at, std::vector<int32_t>& list) {
  for (int32_t& number : list) number = static_cast<int32_t>(take<Narrow>(at));
}

// Its length, the bytes of a number, the numbers. Below zero stands only -1, in lists of targets.
void put_list(std::string& out, const std::vector<int32_t>& list) {
  uint32_t largest = 0;
  for (const int32_t number : list) largest = std::max(largest, static_cast<uint32_t>(number));
  const uint8_t width = largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
  put(out, static_cast<uint32_t>(list.size()));
  put(out, width);
  if (width == 1) put_all<uint8_t>(out, list);
  if (width == 2) put_all<uint16_t>(out, list);
  if (width == 4) put_all<int32_t>(out, list);
}

void take_list(const char*& at, std::vector<int32_t>& list) {
  list.resize(take<uint32_t>(at));
  const auto width = take<uint8_t>(at);
  if (width == 1) take_all<uint8_t>(at, list);
  if (width == 2) take_all<uint16_t>(at, list);
  if (width == 4) take_all<int32_t>(at, list);
}

bool write_all(int file, const std::string& bytes, int64_t offset) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = pwrite(file, bytes.data() + done, bytes.size() - done,
                             static_cast<off_t>(offset + static_cast<int64_t>(done)));
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

bool read_all(int file, std::string& bytes, int64_t offset) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = pread(file, bytes.data() + done, bytes.size() - done,
                            static_cast<off_t>(offset + static_cast<int64_t>(done)));
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

ExampleCache::ExampleCache(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0) return;
  most_ = static_cast<int64_t>(disk.f_bavail * disk.f_frsize / 2);
  file_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

ExampleCache::~ExampleCache() {
  if (file_ >= 0) close(file_);
}

void ExampleCache::keep(int64_t first, const std::vector<Example>& examples, int64_t end,
                        bool last) {
  if (file_ < 0) return;
  std::string bytes;
  for (const Example& example : examples) {
    put(bytes, example.record);
    put(bytes, static_cast<int32_t>(example.label));
    for (const auto* list : {&example.tokens, &example.other, &example.targets})
      put_list(bytes, *list);
  }
  const auto count = static_cast<int64_t>(bytes.size());
  if (size_ + count > most_ || !write_all(file_, bytes, size_)) return;
  places_[first] = {size_, count, static_cast<int64_t>(examples.size()), end, last};
  size_ += count;
}

std::optional<ExampleCache::Span> ExampleCache::find(int64_t first) const {
  const auto found = places_.find(first);
  if (found == places_.end()) return std::nullopt;
  const Place& place = found->second;
  std::string bytes(static_cast<size_t>(place.bytes), '\0');
  if (!read_all(file_, bytes, place.offset)) return std::nullopt;
  Span span{.examples = {}, .end = place.end, .last = place.last};
  span.examples.resize(static_cast<size_t>(place.examples));
  const char* at = bytes.data();
  for (Example& example : span.examples) {
    example.record = take<int64_t>(at);
    example.label = take<int32_t>(at);
    for (auto* list : {&example.tokens, &example.other, &example.targets}) take_list(at, *list);
  }
  return span;
}

}  // namespace linnet
