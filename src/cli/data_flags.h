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

 private:
  struct Values {
    ReadOptions options;
    std::string header = "auto";
    double limit_mib = static_cast<double>(kRecordLimit) / (1 << 20);
  };
  std::shared_ptr<Values> values_;
};

}  // namespace linnet
