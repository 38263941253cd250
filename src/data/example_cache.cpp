// example_cache.cpp -- lists of numbers to bytes and back.
#include "data/example_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace linnet {
namespace {

constexpr size_t kPiece = size_t{1} << 20;   // bytes written together
constexpr int64_t kPage = int64_t{1} << 16;  // the largest page of a system that linnet runs on

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
  int64_t at = size_;
  std::string bytes;
  // In pieces: all of a window at once would be as much memory again.
  const auto flush = [&](size_t least) {
    if (bytes.size() < least) return true;
    const auto count = static_cast<int64_t>(bytes.size());
    if (at + count > most_ || !write_all(file_, bytes, at)) return false;
    at += count;
    bytes.clear();
    return true;
  };
  bool kept = true;
  for (size_t i = 0; kept && i < examples.size(); ++i) {
    put(bytes, examples[i].record);
    put(bytes, static_cast<int32_t>(examples[i].label));
    for (const auto* list : {&examples[i].tokens, &examples[i].other, &examples[i].targets})
      put_list(bytes, *list);
    kept = flush(kPiece);
  }
  if (!kept || !flush(0)) {
    // The room is for others, for the checkpoint above all: nothing more is kept.
    most_ = ftruncate(file_, static_cast<off_t>(size_)) == 0 ? size_ : 0;
    return;
  }
  places_[first] = {size_, at - size_, static_cast<int64_t>(examples.size()), end, last};
  size_ = (at + kPage - 1) / kPage * kPage;  // where the next may be mapped
}

std::optional<ExampleCache::Span> ExampleCache::find(int64_t first) const {
  const auto found = places_.find(first);
  if (found == places_.end()) return std::nullopt;
  const Place& place = found->second;
  Span span{.examples = {}, .end = place.end, .last = place.last};
  if (place.examples == 0) return span;
  const auto bytes = static_cast<size_t>(place.bytes);
  void* map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file_, static_cast<off_t>(place.offset));
  if (map == MAP_FAILED) return std::nullopt;
  madvise(map, bytes, MADV_SEQUENTIAL);
  span.examples.resize(static_cast<size_t>(place.examples));
  const char* at = static_cast<const char*>(map);
  for (Example& example : span.examples) {
    example.record = take<int64_t>(at);
    example.label = take<int32_t>(at);
    for (auto* list : {&example.tokens, &example.other, &example.targets}) take_list(at, *list);
  }
  munmap(map, bytes);
  return span;
}

}  // namespace linnet
