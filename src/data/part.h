// part.h -- one part of the data: train, validation or test, and its examples in the order of the
// file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/formats.h"
#include "data/task.h"

namespace linnet {

// Where validation is not given it is a share of the training data, by a hash of each record
// (split.h); of a text for language models by a hash of each block of some lines.
struct DataPart {
  enum class Side { all, train, validation };
  std::string path;
  ReadOptions read = {};
  Side side = Side::all;
  double share = 0.1;               // of validation
  bool blocks = false;              // text is split in blocks
  std::vector<DataPart> more = {};  // that follow it, as one with it
};

class PartReader {
 public:
  explicit PartReader(const DataPart& part);
  // Views hold until the next call. A part without any record is an Error.
  bool next(Record& record);
  double done() const;
  // The one that is being read.
  const OpenData& data() const { return data_; }

 private:
  bool read(Record& record);
  // The next of part_.more; false after the last.
  bool open_next();
  bool wanted(const Record& record) const;

  DataPart part_;
  std::vector<DataPart> more_;  // what follows part_
  size_t opened_ = 0;           // of more_
  OpenData data_;
  Record whole_;                // that blocks are cut from
  std::string_view rest_ = {};  // of whole_.text
  bool any_ = false;
};

// All texts of a part, for a tokenizer to learn from.
class RecordTexts {
 public:
  explicit RecordTexts(const DataPart& part) : reader_(part) {}
  bool next(std::string& text);
  double done() const { return reader_.done(); }
  int64_t count() const { return count_; }
  int64_t bytes() const { return bytes_; }

 private:
  PartReader reader_;
  Record record_;
  bool second_ = false;  // the other text of the record is still to come
  int64_t count_ = 0, bytes_ = 0;
};

// The parts of a path that is a file, or a folder with splits. Paths of validation and test, where
// the user names them, come before those of the folder.
struct DataParts {
  DataPart train, validation;
  std::optional<DataPart> test;
};
DataParts parts_of(const std::string& path, const std::string& validation, const std::string& test,
                   const ReadOptions& read, double share);

// The records of a part as examples.
class ExampleStream {
 public:
  ExampleStream(const DataPart& part, ExampleMaker maker);
  // Appends the examples of one more record; false after the last.
  bool next(std::vector<Example>& out);
  // Puts what waits for a record that continues it into an example of its own.
  void cut(std::vector<Example>& out) { maker_.finish(out); }
  // Passes over records without making examples.
  void skip(int64_t records);
  int64_t records() const { return records_; }  // read so far
  double done() const { return reader_.done(); }

 private:
  PartReader reader_;
  ExampleMaker maker_;
  int64_t records_ = 0;
};

// Makes every example of a part once: a fault in it is an Error now, not after hours. `show` is
// told the share that is read, -1 when unknown.
void check_examples(const DataPart& part, ExampleMaker maker,
                    const std::function<void(double done)>& show);

// Some of a part, the same ones every time; whole records, spread over `all` that it has, since a
// file may be in the order of its labels. 0: the first ones, of texts that continue each other.
std::vector<Example> some_examples(const DataPart& part, ExampleMaker maker, int64_t records,
                                   int64_t all);

}  // namespace linnet
