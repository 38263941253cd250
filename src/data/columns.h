// columns.h -- which column is the text, which the label: as the user says, else by names and first
// rows.
#pragma once

#include <string>
#include <vector>

#include "data/formats.h"

namespace linnet {

// From 0; -1 when there is none.
struct ColumnChoice {
  int text = 0, second = -1, label = -1;
};

using SampleRow = std::vector<std::string>;

// Whether the first of the rows is a header: it has a name that is known or asked for, or a word
// above a column of numbers.
bool has_header(const std::vector<SampleRow>& rows, const ReadOptions& options);

// `names` may be empty; `rows` are without the header. A column that does not exist is an Error
// that lists those which do. `place` is the file.
ColumnChoice choose_columns(const std::string& place, const std::vector<std::string>& names,
                            const std::vector<SampleRow>& rows, const ReadOptions& options);

// The columns with their roles, for people.
std::vector<Column> describe_columns(const ColumnChoice& choice,
                                     const std::vector<std::string>& names, size_t count);

}  // namespace linnet
