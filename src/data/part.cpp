// part.cpp -- reads a part of the data.
#include "data/part.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "data/same_data.h"
#include "data/split.h"

namespace linnet {
namespace {

constexpr size_t kBlock = 4096;  // bytes of text that go to one side together

// Some lines at the start of a text.
size_t block_size(std::string_view text) {
  if (text.size() <= kBlock) return text.size();
  const size_t end = text.find('\n', kBlock);
  return end == text.npos ? text.size() : end + 1;
}

}  // namespace

PartReader::PartReader(const DataPart& part)
    : part_(part), more_(part.more), data_(open_data(part.path, part.read)) {}

double PartReader::done() const {
  const auto parts = static_cast<double>(more_.size() + 1);
  const double done = data_.reader->done();
  return done < 0 ? done : (static_cast<double>(opened_) + done) / parts;
}

bool PartReader::open_next() {
  if (opened_ == more_.size()) return false;
  part_ = more_[opened_++];
  data_ = open_data(part_.path, part_.read);
  rest_ = {};
  return true;
}

bool PartReader::wanted(const Record& record) const {
  if (part_.side == DataPart::Side::all) return true;
  return in_validation(record, part_.share) == (part_.side == DataPart::Side::validation);
}

bool PartReader::read(Record& record) {
  if (!part_.blocks || part_.side == DataPart::Side::all) {
    while (data_.reader->next(record)) {
      if (wanted(record)) return true;
    }
    return false;
  }
  while (true) {
    while (!rest_.empty()) {
      Record block = whole_;
      block.text = rest_.substr(0, block_size(rest_));
      rest_.remove_prefix(block.text.size());
      if (!wanted(block)) continue;
      Record next = whole_;
      next.text = rest_.substr(0, block_size(rest_));
      block.continues = !next.text.empty() && wanted(next);
      record = block;
      return true;
    }
    if (!data_.reader->next(whole_)) return false;
    rest_ = whole_.text;
  }
}

bool PartReader::next(Record& record) {
  do {
    if (read(record)) return any_ = true;
  } while (open_next());
  if (!any_ && part_.side == DataPart::Side::validation) {
    throw Error(
        fmt::format("[{}] is too small to keep {:.0f}% of it for validation: name a file "
                    "with --validation, or a larger --validation-share",
                    place_of(part_.path), part_.share * 100));
  }
  if (!any_) {
    throw Error(fmt::format("[{}] all of it went to validation: nothing is left to train on",
                            place_of(part_.path)));
  }
  return false;
}

bool RecordTexts::next(std::string& text) {
  if (!second_ && !reader_.next(record_)) return false;
  text = second_ ? record_.second : record_.text;
  second_ = !second_ && !record_.second.empty();
  ++count_;
  bytes_ += static_cast<int64_t>(text.size());
  return true;
}

namespace {

// What a model is trained on or chosen by cannot say how good it is.
void check_parts(const DataParts& parts) {
  const DataPart train{.path = parts.train.path, .read = parts.train.read};
  const bool kept = parts.validation.side == DataPart::Side::validation;  // out of train
  if (!kept && is_same_data(train, parts.validation))
    throw Error(
        fmt::format("[--validation] {} is the training data: a model cannot be chosen by "
                    "what it has learnt from",
                    place_of(parts.validation.path)));
  if (!parts.test) return;
  if (!kept && is_same_data(parts.validation, *parts.test))
    throw Error(
        fmt::format("[--test] {} is validation, too: what a model is chosen by cannot test it",
                    place_of(parts.test->path)));
  if (is_same_data(train, *parts.test))
    throw Error(
        fmt::format("[--test] {} is the training data: what a model has learnt from cannot test it",
                    place_of(parts.test->path)));
}

}  // namespace

DataParts parts_of(const std::string& path, const std::string& validation, const std::string& test,
                   const ReadOptions& read, double share) {
  const std::vector<std::string> splits = splits_of(path, read);
  const auto has = [&](const char* split) {
    return std::find(splits.begin(), splits.end(), split) != splits.end();
  };
  const auto split_of = [&](const std::string& file, const char* split) {
    DataPart part{.path = file, .read = read};
    // A folder is asked for this split, a file is taken as it is.
    const bool folder = !(file == path ? splits : splits_of(file, read)).empty();
    part.read.split = folder ? split : "";
    return part;
  };
  DataParts parts{.train = {.path = path, .read = read}, .validation = {}, .test = {}};
  if (!validation.empty()) {
    parts.validation = split_of(validation, "validation");
  } else if (has("validation")) {
    parts.validation = split_of(path, "validation");
  } else {
    parts.train.share = share;
    parts.validation = parts.train;
    parts.train.side = DataPart::Side::train;
    parts.validation.side = DataPart::Side::validation;
  }
  if (!test.empty()) {
    parts.test = split_of(test, "test");
  } else if (has("test")) {
    parts.test = split_of(path, "test");
  }
  check_parts(parts);
  return parts;
}

ExampleStream::ExampleStream(const DataPart& part, ExampleMaker maker)
    : reader_(part), maker_(std::move(maker)) {}

bool ExampleStream::next(std::vector<Example>& out) {
  Record record;
  if (!reader_.next(record)) {
    maker_.finish(out);
    return false;
  }
  maker_.add(record, records_++, out);
  return true;
}

void ExampleStream::skip(int64_t records) {
  Record record;
  for (; records_ < records && reader_.next(record); ++records_) {
  }
}

void check_examples(const DataPart& part, ExampleMaker maker,
                    const std::function<void(double done)>& show) {
  constexpr int64_t kShowEvery = 256;  // records
  ExampleStream stream(part, std::move(maker));
  for (std::vector<Example> examples; stream.next(examples); examples.clear())
    if (stream.records() % kShowEvery == 0) show(stream.done());
}

std::vector<Example> some_examples(const DataPart& part, ExampleMaker maker, int64_t records,
                                   int64_t all) {
  const int64_t wanted = all > 0 ? std::min(all, records) : records;
  ExampleStream stream(part, std::move(maker));
  std::vector<Example> examples;
  for (int64_t i = 0; i < wanted; ++i) {
    stream.skip(i * all / wanted);
    if (!stream.next(examples)) break;
  }
  stream.cut(examples);
  return examples;
}

}  // namespace linnet
