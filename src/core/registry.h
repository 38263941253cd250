// registry.h -- looks up a record by its name in an explicit list; the error names what there is.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

template <class Record>
const Record& find_in(std::span<const Record* const> list, std::string_view what,
                      std::string_view name) {
  std::string known;
  for (const Record* record : list) {
    if (record->name == name) return *record;
    known += (known.empty() ? "" : ", ") + std::string(record->name);
  }
  throw Error(fmt::format("[config.{}] no such {}: \"{}\"; there are: {}", what, what,
                          printable(name, 40), known));
}

}  // namespace linnet
