// safetensors.h -- the safetensors file format: named arrays behind a JSON directory.
//
// A file is: 8 bytes N, little endian; N bytes of JSON, padded with spaces; the data.
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3],
//                                              "data_offsets": [0, 24]}}
// Offsets count from the start of the data; the tensors cover it without a hole or an overlap.
// https://huggingface.co/docs/safetensors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.h"

namespace linnet {

// A tensor to write: row-major floats, as many as the shape says.
struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  const float* data;
};

// Written beside the file that it is to replace (see NewFile). Equal content gives equal bytes
// whatever the order of the tensors; the data starts at a multiple of 64.
NewFile new_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                        const std::map<std::string, std::string>& metadata);
void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                       const std::map<std::string, std::string>& metadata);

// What the directory says of a tensor: checked, so data[begin, end) exists and fits the shape.
struct TensorInfo {
  std::string_view dtype;  // "F32", "BF16", ... of static storage
  std::vector<int64_t> shape;
  size_t begin = 0, end = 0;  // bytes, from the start of the data
};

// A file to read. All of it is checked on opening; an Error tells the first fault.
class SafetensorsFile {
 public:
  static SafetensorsFile open(const std::filesystem::path& path);
  // `file` must outlive the result; `place` stands for the path in messages, as it is.
  static SafetensorsFile parse(std::span<const std::byte> file, std::string_view place);

  // By name, sorted.
  const std::map<std::string, TensorInfo, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // An Error unless the tensor is there, F32 and of the expected shape.
  const TensorInfo& check(std::string_view name, const std::vector<int64_t>& expected_shape) const;
  // Copies a tensor to `out`, checked first. It copies because the format does not promise that
  // floats are aligned.
  void read(std::string_view name, float* out, const std::vector<int64_t>& expected_shape) const;
  // The first `count` of its numbers.
  void read_start(std::string_view name, float* out, const std::vector<int64_t>& expected_shape,
                  int64_t count) const;

 private:
  std::optional<MappedFile> map_;
  std::span<const std::byte> data_;
  std::string place_;
  std::map<std::string, TensorInfo, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace linnet
