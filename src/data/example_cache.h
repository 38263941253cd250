// example_cache.h -- examples of larger data as they were made, in a file without a name, so that
// it is read, unpacked and tokenized once and not in every epoch.
//
// The file vanishes with the process, however that ends. Tokens take 1, 2 or 4 bytes, as the
// largest of a list needs. A disk that has no room is no fault: what is not kept is made again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "data/example.h"

namespace linnet {

class ExampleCache {
 public:
  // Takes at most half of what is free in the folder. An empty path keeps nothing.
  explicit ExampleCache(const std::filesystem::path& folder);
  ~ExampleCache();
  ExampleCache(const ExampleCache&) = delete;
  ExampleCache& operator=(const ExampleCache&) = delete;

  // What is known of some records in a row.
  struct Span {
    std::vector<Example> examples;
    int64_t end = 0;    // the record after them
    bool last = false;  // of the part
  };
  // Under the number of its first record.
  void keep(int64_t first, const std::vector<Example>& examples, int64_t end, bool last);
  std::optional<Span> find(int64_t first) const;

 private:
  struct Place {
    int64_t offset, bytes, examples, end;
    bool last;
  };
  int file_ = -1;
  int64_t size_ = 0, most_ = 0;  // bytes
  std::map<int64_t, Place> places_;
};

}  // namespace linnet
