// same_data.h -- whether two parts of data are one, whatever they are called.
#pragma once

#include "data/part.h"

namespace linnet {

// Other spellings of a path, links, copies, packed or not, a file and the split of the folder that
// it is in: the records are the same. Reads both as far as they are equal, so a difference at the
// start costs nothing. What can be read only once, a pipe, is never compared.
bool is_same_data(const DataPart& a, const DataPart& b);

}  // namespace linnet
