// reader_fuzz.h -- what holds for every reader of data: any bytes give records or one clear Error,
// the same whether they come at once or in small pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "data/formats.h"

namespace linnet {

// A message must have a place, must be short and must not steer a terminal.
inline void check_message(std::string_view message) {
  LINNET_ASSERT(message.starts_with("[") && message.find("] ") != message.npos);
  LINNET_ASSERT(message.size() < 2000);
  for (const char c : message) LINNET_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

// All records and the Error at the end, if any, in one text.
inline std::string read_everything(Input input, const ReadOptions& options) {
  std::string all;
  try {
    OpenData data = open_data(std::move(input), options);
    LINNET_ASSERT(data.reader->columns().size() < 1'000'000);
    for (Record record; data.reader->next(record);) {
      for (const std::string_view part : {record.text, record.second}) {
        all += part;
        all += '\x01';
      }
      for (const std::string_view label : record.labels) {
        LINNET_ASSERT(!label.empty());
        all += std::string(label) + '\x02';
      }
      all += place_of(record) + '\n';
    }
  } catch (const Error& error) {
    check_message(error.what());
    all += error.what();
  }
  return all;
}

inline Input file_input(const std::string& name, std::string_view bytes, size_t piece) {
  Input input{.path = name, .name = name, .tree = nullptr, .window = nullptr};
  input.window = std::make_unique<Window>(bytes_of(bytes, piece), name, kRecordLimit);
  input.window->ensure(1 << 16);
  return input;
}

// The bits of the first byte are options, the rest is the file.
inline int fuzz_file(std::string_view format, const std::string& name, const uint8_t* data,
                     size_t size) {
  if (size == 0) return 0;
  ReadOptions options;
  options.format = format;
  if (data[0] & 1) options.header = (data[0] & 2) != 0;
  options.escapes = (data[0] & 4) != 0;
  if (data[0] & 8) options.label_separator = ",";
  if (data[0] & 16) options.text_column = "2";
  if (data[0] & 32) options.label_column = "1";
  if (data[0] & 64) options.second_column = "b";
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string whole = read_everything(file_input(name, bytes, ~size_t{0}), options);
  const size_t piece = data[0] & 128 ? 1 : 5;
  LINNET_ASSERT(whole == read_everything(file_input(name, bytes, piece), options));
  return 0;
}

// The input as parts between bytes of 255.
inline std::vector<std::string> parts_of(const uint8_t* data, size_t size) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == 255) {
      parts.emplace_back();
    } else {
      parts.back() += static_cast<char>(data[i]);
    }
  }
  return parts;
}

inline int fuzz_folder(std::string_view format, std::map<std::string, std::string> files) {
  for (const char* split : {"", "validation", "test", "unlabelled"}) {
    ReadOptions options;
    options.format = format;
    options.split = split;
    Input input{.path = "fuzz", .name = "fuzz", .tree = tree_of("fuzz", files), .window = nullptr};
    read_everything(std::move(input), options);
  }
  return 0;
}

}  // namespace linnet
