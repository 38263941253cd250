// record.h -- one example as it stands in the data: bytes, labels as words, and its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

// The views belong to the reader and hold until its next record.
struct Record {
  std::string_view text;    // bytes as they are; of an image its grey pixels, one byte each
  std::string_view second;  // the other text of a pair
  std::vector<std::string_view> labels;  // none: unlabelled; several: multi-label
  bool continues = false;                // plain text: the next record goes on where this one ends

  std::string_view file;
  int64_t line = 0;   // from 1; of a binary file the number of the record
  size_t column = 1;  // of the label, in bytes from 1; of the text when there is no label
};

// Labels of one record, as the tags of its words; more are an Error before they fill the memory.
inline constexpr size_t kMostLabels = size_t{1} << 20;

// "train.csv:17:3", as errors name it.
std::string place_of(const Record& record);

// An Error for more labels than a record may have.
void check_labels(const Record& record, size_t labels);

// Of a pair both texts must be there; they may be empty.
void check_second(const Record& record);

// A column of a table or a field of a JSON line, and what it is taken for.
struct Column {
  std::string name;  // empty when there is no header
  std::string role;  // "text", "second text", "label" or empty
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // False at the end; data without a single record is an Error.
  bool next(Record& record);
  // Share of the data that was read so far; -1 when unknown.
  virtual double done() const = 0;
  virtual std::vector<Column> columns() const { return {}; }

 protected:
  // `name` is the file or folder, for the error of an empty one.
  explicit RecordReader(std::string name) : name_(std::move(name)) {}
  // Fills a cleared record; false at the end.
  virtual bool read(Record& record) = 0;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  bool any_ = false;
};

// Labels between separators; empty ones are left out. Without a separator the whole is one label.
// The record has its place already.
// Blanks around a label are no part of it: " pos" is never meant as another class than "pos".
void add_labels(std::string_view text, std::string_view separator, Record& record);

}  // namespace linnet
