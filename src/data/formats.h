// formats.h -- every layout of data that linnet reads; one file each in formats/, one line in
// formats.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/file_tree.h"
#include "data/record.h"
#include "data/window.h"

namespace linnet {

struct ReadOptions {
  std::string format;  // a name of the list; empty: guessed from the name and the first bytes
  std::string split;   // of a folder: train, validation, test or unlabelled; empty: train
  std::optional<bool> header;  // of a table; none: guessed
  // A column's name or its number from 1; empty: guessed from the names and the first rows.
  std::string text_column, second_column, label_column;
  std::string label_separator;  // between the labels of one record; empty: one label
  std::string delimiter;        // of CSV, one byte; empty: guessed among , ; tab |
  bool escapes = false;         // TSV: \\ \t \n \r stand for a backslash, tab, line feed, return
  size_t record_limit = kRecordLimit;  // bytes
};

// A folder or archive (tree), or a file (window, nothing of it read yet).
struct Input {
  std::string path;
  std::string name;  // last part, lower case, without .gz and the like: "train.tsv"
  std::unique_ptr<FileTree> tree;
  std::unique_ptr<Window> window;

  // The first bytes of a file.
  std::string_view head() const;
  // Whether the name tells nothing: standard input, or a name without a dot.
  bool nameless() const { return name.find('.') == name.npos; }
};

struct Format {
  std::string_view name, summary;
  // How it looks, in one line.
  std::string_view layout;
  bool takes_folders, takes_files;
  bool pixels;  // records are images
  // Whether the input is of this kind, by name and first bytes; asked in the order of the list.
  bool (*matches)(const Input& input);
  // The splits that a folder has; null when it is never called.
  std::vector<std::string> (*splits)(const Input& input);
  std::unique_ptr<RecordReader> (*open)(Input input, const ReadOptions& options);
};

std::span<const Format* const> formats();

struct OpenData {
  const Format* format;
  std::string path;  // of the file or folder that is read
  std::unique_ptr<RecordReader> reader;
};

// A file, folder, archive or "-". A folder or archive that is no layout of the list but has files
// with train, test, ... in their names is read by options.split; one with a single file is that
// file.
OpenData open_data(const std::string& path, const ReadOptions& options);
OpenData open_data(Input input, const ReadOptions& options);

// The one file that open_data would read; the path itself where that is the file, or a folder that
// is a layout of the list.
std::string file_of_data(const std::string& path, const ReadOptions& options);

// "train", "validation", "test", "unlabelled" as far as the data has them; none for a single file.
std::vector<std::string> splits_of(const std::string& path, const ReadOptions& options);

// The split that a file's name speaks of: "basic_val.tsv" is validation; empty when none.
std::string split_of_name(std::string_view name);

}  // namespace linnet
