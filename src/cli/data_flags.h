// data_flags.h -- the flags that say how data is to be read, for every verb that reads some.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "data/formats.h"

namespace linnet {

class DataFlags {
 public:
  explicit DataFlags(CLI::App& verb);
  ReadOptions options() const;
  // One of the flags that say what is where in a file, if any was given.
  std::string given() const;

 private:
  struct Values {
    ReadOptions options;
    std::string header = "auto";
    double limit_mib = static_cast<double>(kRecordLimit) / (1 << 20);
  };
  std::shared_ptr<Values> values_;
  std::vector<const CLI::Option*> layout_;
};

}  // namespace linnet
