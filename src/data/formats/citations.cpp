// citations.cpp -- document pairs by id: docs.tsv holds the texts, pairs.train.tsv the labels.
//
// docs.tsv: id, year, text with escapes; pairs.*.tsv: label, id, id. Pairs come in any order, so
// all documents are kept in memory; the pairs are streamed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "core/error.h"
#include "core/file.h"
#include "data/formats.h"
#include "data/rows.h"

namespace linnet {
namespace {

constexpr std::string_view kPacked[] = {"", ".xz", ".gz", ".zst", ".bz2", ".lz4"};

// Documents are packed well, a thousand to one in a hostile file. The whole ACL Anthology Network
// takes 0.7 GB.
constexpr size_t kMostDocuments = size_t{4} << 30;
constexpr size_t kDocumentBytes = 100;  // of memory beside its id and text

class Documents {
 public:
  explicit Documents(Window window) {
    const auto rows = tsv_rows(std::move(window));
    for (std::vector<Field> row; rows->next(row);) {
      if (row.size() != 3) {
        rows->window().fail(
            row[0].line, row.back().column,
            fmt::format("a document has 3 fields (id, year, text), not {}", row.size()));
      }
      unescape(row[2], rows->window());
      bytes_ += kDocumentBytes + row[0].text().size() + row[2].text().size();
      if (bytes_ > kMostDocuments)
        rows->window().fail(row[0].line, row[0].column,
                            "the documents up to here take more than 4 GiB of memory");
      const bool added = texts_.emplace(row[0].text(), row[2].text()).second;
      if (!added) {
        rows->window().fail(row[0].line, row[0].column,
                            "a second document with the id " + printable(row[0].text(), 60));
      }
    }
  }
  const std::string* find(std::string_view id) {
    key_ = id;
    const auto found = texts_.find(key_);
    return found == texts_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::string, std::string> texts_;
  size_t bytes_ = 0;
  std::string key_;
};

class CitationReader : public RecordReader {
 public:
  CitationReader(Window docs, Window pairs)
      : RecordReader(pairs.name()),
        docs_name_(docs.name()),
        docs_(std::move(docs)),
        rows_(tsv_rows(std::move(pairs))) {}
  double done() const override { return rows_->window().done(); }
  std::vector<Column> columns() const override {
    return {{"", "label"}, {"", "text"}, {"", "second text"}};
  }

 protected:
  bool read(Record& record) override {
    if (!rows_->next(row_)) return false;
    if (row_.size() != 3) {
      rows_->window().fail(row_[0].line, row_.back().column,
                           fmt::format("a pair has 3 fields (label, id, id), not {}", row_.size()));
    }
    record.file = rows_->window().name();
    record.line = row_[0].line;
    add_labels(row_[0].text(), "", record);
    record.text = text_of(row_[1]);
    record.second = text_of(row_[2]);
    return true;
  }

 private:
  std::string_view text_of(const Field& id) {
    const std::string* text = docs_.find(id.text());
    if (text == nullptr) {
      rows_->window().fail(
          id.line, id.column,
          fmt::format("no document {} in {}", printable(id.text(), 60), place_of(docs_name_)));
    }
    return *text;
  }

  std::string docs_name_;
  Documents docs_;
  std::unique_ptr<RowSource> rows_;
  std::vector<Field> row_;
};

// The name with which the tree has the file, packed or not; empty when it has none.
std::string packed_file(const FileTree& tree, std::string_view name) {
  for (const std::string_view packed : kPacked) {
    const std::string file = std::string(name) + std::string(packed);
    if (std::binary_search(tree.files().begin(), tree.files().end(), file)) return file;
  }
  return "";
}

std::string pairs_file(const FileTree& tree, std::string_view split) {
  if (split == "train" || split == "test") {
    return packed_file(tree, fmt::format("pairs.{}.tsv", split));
  }
  if (split != "validation") return "";
  for (const char* word : {"eval", "val", "valid", "validation", "dev"}) {
    const std::string file = packed_file(tree, fmt::format("pairs.{}.tsv", word));
    if (!file.empty()) return file;
  }
  return "";
}

// docs.tsv beside a file of pairs.
std::string docs_beside(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const std::string_view packed : kPacked) {
    const std::string docs = (folder / ("docs.tsv" + std::string(packed))).string();
    std::error_code error;
    if (std::filesystem::exists(docs, error)) return docs;
  }
  return "";
}

bool matches(const Input& input) {
  if (input.tree) {
    return !packed_file(*input.tree, "docs.tsv").empty() &&
           !pairs_file(*input.tree, "train").empty();
  }
  return input.name.starts_with("pairs.") && input.name.ends_with(".tsv") &&
         !docs_beside(input.path).empty();
}

std::vector<std::string> splits(const Input& input) {
  std::vector<std::string> found;
  for (const char* split : {"train", "validation", "test"}) {
    if (!pairs_file(*input.tree, split).empty()) found.emplace_back(split);
  }
  return found;
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  const auto window = [&](std::unique_ptr<ByteSource> source, const std::string& name) {
    return Window(std::move(source), name, options.record_limit);
  };
  if (!input.tree) {
    const std::string docs = docs_beside(input.path);
    if (docs.empty())
      throw Error(fmt::format("[{}] has no docs.tsv beside it", place_of(input.path)));
    return std::make_unique<CitationReader>(window(open_bytes(docs), docs),
                                            std::move(*input.window));
  }
  const FileTree& tree = *input.tree;
  const std::string split = options.split.empty() ? "train" : options.split;
  const std::string docs = packed_file(tree, "docs.tsv"), pairs = pairs_file(tree, split);
  if (docs.empty() || pairs.empty()) {
    throw Error(fmt::format("[{}] has no {}", place_of(input.path),
                            docs.empty() ? "docs.tsv" : "pairs of the split " + printable(split)));
  }
  return std::make_unique<CitationReader>(window(tree.open(docs), tree.path_of(docs)),
                                          window(tree.open(pairs), tree.path_of(pairs)));
}

}  // namespace

extern const Format kCitations = {
    .name = "citations",
    .summary = "Document pairs by id: a folder with docs.tsv and pairs.train.tsv, packed or not",
    .layout = "pairs: label TAB id TAB id; docs: id TAB year TAB text",
    .takes_folders = true,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = splits,
    .open = open,
};

}  // namespace linnet
