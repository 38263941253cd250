// event_file.h -- scalars over the steps of a run, in the event files that TensorBoard reads.
//
// A file is a row of TFRecords: length, masked CRC-32C of the length, bytes, masked CRC-32C of the
// bytes. The bytes are a protobuf Event. A reader stops at a record that is cut short, and reads
// the files of a folder in the order of their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/log_file.h"

namespace linnet {

struct Scalar {
  std::string tag;  // "train/loss": a chart in a group
  double value;
};

class EventFile {
 public:
  // A new file behind those of the folder, which is made. It says that the run starts at `next`:
  // what older files have of this step and later is of steps that are taken again, and is dropped.
  EventFile(const std::filesystem::path& folder, int64_t next);
  void write(int64_t step, std::span<const Scalar> scalars);

 private:
  void append(int64_t step, std::string_view fields);
  LogFile file_;
};

// The checksum that TFRecords have before it is masked.
uint32_t crc32c(std::string_view bytes);

}  // namespace linnet
