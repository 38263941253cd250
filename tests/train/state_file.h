// state_file.h -- the state of a trainer on disk, for tests that look into it or spoil it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/safetensors.h"

namespace linnet {

// A state file taken apart, to be changed and written again.
struct StateFile {
  struct Numbers {
    std::vector<int64_t> shape;
    std::vector<float> data;
  };
  std::map<std::string, Numbers> tensors;
  std::map<std::string, std::string> metadata;

  explicit StateFile(const std::filesystem::path& path) {
    const SafetensorsFile file = SafetensorsFile::open(path);
    metadata = file.metadata();
    for (const auto& [name, info] : file.tensors()) {
      Numbers& numbers = tensors[name];
      numbers.shape = info.shape;
      numbers.data.resize((info.end - info.begin) / sizeof(float));
      file.read(name, numbers.data.data(), info.shape);
    }
  }
  void write(const std::filesystem::path& path) const {
    std::vector<Tensor> list;
    for (const auto& [name, numbers] : tensors)
      list.push_back({name, numbers.shape, numbers.data.data()});
    write_safetensors(path, list, metadata);
  }
};

}  // namespace linnet
