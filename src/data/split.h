// split.h -- which records are kept for validation, by their content alone.
//
// The hash of text and second text, not of the label, decides: the same record is on the same side
// in every run, on every machine, wherever it stands in the file and whatever else is in it; equal
// texts are never on both sides. Only training data is split so, never test data.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/record.h"

namespace linnet {

// 64 bits, the same on every machine; for finding repeats and for splitting, not for secrets.
uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0);
uint64_t hash_content(const Record& record);
// Of all records so far, in their order, and one more: texts, and where they count its labels.
uint64_t hash_records(uint64_t before, const Record& record, bool labelled);

// About `share` of all contents, 0 to 1.
bool in_validation(const Record& record, double share);

}  // namespace linnet
