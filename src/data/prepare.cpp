// prepare.cpp -- the passes over the data before training.
#include "data/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "core/utf8.h"
#include "data/split.h"

namespace linnet {
namespace {

constexpr int64_t kShowEvery = 1024;  // records
constexpr int64_t kBytesToLearnFrom = int64_t{1} << 26;
constexpr int32_t kMostWords = 60'000;
constexpr int64_t kLongestWord = 20;  // in the mean, in bytes: beyond, blanks do not part words
constexpr uint64_t kLearn = 7;        // seed of the hash that chooses them

using Show = std::function<void(const std::string& what, double done)>;

// Opens the data for a look at what it is.
void recognise(const DataChoice& choice, PreparedTask& prepared) {
  PartReader reader(DataPart{.path = choice.data, .read = choice.read});
  Record first;
  reader.next(first);
  prepared.format = reader.data().format;
  prepared.columns = reader.data().reader->columns();
  prepared.task =
      choice.task.empty() ? &guess_task(*prepared.format, first) : &find_task(choice.task);
  if (prepared.task->model == "match") check_second(first);
}

void check_has_label(const Record& record) {
  if (!record.labels.empty()) return;
  throw Error(fmt::format("[{}] has no label: is a label column to be named with --label-column?",
                          place_of(record)));
}

void count_train(PreparedTask& prepared, LabelCounts& counts, const Show& show) {
  const bool labelled = prepared.task->labelled;
  PartReader reader(prepared.parts.train);
  Record record;
  while (reader.next(record)) {
    prepared.content = hash_records(prepared.content, record, labelled);
    const auto size = static_cast<int64_t>(std::max(record.text.size(), record.second.size()));
    prepared.bytes += static_cast<int64_t>(record.text.size() + record.second.size());
    prepared.longest = std::max(prepared.longest, size);
    for (const std::string_view text : {record.text, record.second})
      prepared.blanks += std::ranges::count(text, ' ');
    if (labelled) check_has_label(record);
    if (record.labels.size() > 1 && prepared.task->model != "tokens") prepared.many_labels = true;
    for (const std::string_view label : labelled ? record.labels : decltype(record.labels)()) {
      if (!is_utf8(label))
        throw Error(
            fmt::format("[{}] label \"{}\" is not UTF-8", place_of(record), printable(label, 60)));
      counts.add(label);
    }
    if (++prepared.records % kShowEvery == 0) show("reading", reader.done());
  }
}

void count_validation(PreparedTask& prepared, LabelCounts& counts, const Show& show) {
  const bool labelled = prepared.task->labelled;
  PartReader reader(prepared.parts.validation);
  int64_t records = 0;
  for (Record record; reader.next(record);) {
    prepared.content = hash_records(prepared.content, record, labelled);
    if (++records % kShowEvery == 0) show("reading validation", reader.done());
    if (!labelled) continue;
    check_has_label(record);
    ++prepared.validation_records;
    // A rare class may be in the kept part alone: it is a class all the same.
    if (prepared.parts.validation.side != DataPart::Side::validation) continue;
    for (const std::string_view label : record.labels) counts.add(label, 0);
  }
}

void count_labels(PreparedTask& prepared, const Show& show) {
  LabelCounts counts;
  count_train(prepared, counts, show);
  count_validation(prepared, counts, show);
  if (!prepared.task->labelled) return;
  prepared.settings.labels = LabelSet::from(counts).names();
  prepared.counts = counts.sorted();
  if (prepared.counts.size() < 2 && !prepared.many_labels) {
    throw Error(
        fmt::format("[{}] every record has the same label, \"{}\": there is nothing to "
                    "learn",
                    place_of(prepared.parts.train.path), printable(prepared.counts[0].first, 60)));
  }
}

// Texts that are the training part's as well: none that its validation keeps, and of a folder the
// split without labels.
void add_unlabelled(const DataChoice& choice, PreparedTask& prepared, const Show& show) {
  for (const std::string& path : choice.unlabelled) {
    DataPart part{.path = path};
    part.read.record_limit = choice.read.record_limit;
    part.side = prepared.parts.train.side;
    part.share = prepared.parts.train.share;
    const std::vector<std::string> splits = splits_of(path, part.read);
    if (std::ranges::find(splits, "unlabelled") != splits.end()) part.read.split = "unlabelled";
    if (open_data(path, part.read).format == prepared.format) {
      part.read.delimiter = choice.read.delimiter;
      part.read.escapes = choice.read.escapes;
      part.read.text_column = choice.read.text_column;
    }
    PartReader reader(part);
    if (reader.data().format->pixels != prepared.format->pixels) {
      throw Error(fmt::format("[{}] has {}: the data to train on has {}", place_of(path),
                              prepared.format->pixels ? "texts" : "images",
                              prepared.format->pixels ? "images" : "texts"));
    }
    part.blocks = reader.data().format->name == "text";
    PartReader again(part);
    for (Record record; again.next(record);) {
      prepared.unlabelled_bytes += static_cast<int64_t>(record.text.size() + record.second.size());
      prepared.unlabelled_content = hash_records(prepared.unlabelled_content, record, false);
      if (++prepared.unlabelled_records % kShowEvery == 0) show("reading " + path, again.done());
    }
    prepared.unlabelled.push_back(std::move(part));
  }
}

std::unique_ptr<Tokenizer> learn_tokenizer(const TokenizerKind& kind, const DataChoice& choice,
                                           const PreparedTask& prepared, int threads,
                                           const Show& show) {
  if (kind.train == nullptr)
    return parse_tokenizer(fmt::format("{{\"kind\": \"{}\"}}", kind.name), "tokenizer");
  TokenizerOptions options;
  options.threads = threads;
  if (kind.name == "words") options.vocabulary = kMostWords;
  if (choice.vocabulary > 0) options.vocabulary = static_cast<int32_t>(choice.vocabulary);
  if (kind.name == "words") {
    options.lower_case = options.split_punctuation = prepared.task->name != "tagging";
    options.buckets = options.vocabulary / 16;
  }
  // Of much text some is enough: every n-th by a hash, so the same ones each time.
  const int64_t bytes = prepared.bytes + prepared.unlabelled_bytes;
  const auto every = static_cast<uint64_t>(bytes / kBytesToLearnFrom + 1);
  DataPart all = prepared.parts.train;
  all.more = prepared.unlabelled;
  RecordTexts texts(all);
  options.progress = [&](const std::string& note) { show("tokenizer: " + note, texts.done()); };
  const auto next = [&](std::string& text) {
    while (texts.next(text)) {
      if (every == 1 || hash_bytes(text, kLearn) % every == 0) return true;
    }
    return false;
  };
  return train_tokenizer(kind.name, next, options);
}

}  // namespace

PreparedTask prepare(const DataChoice& choice, int threads, const Show& progress) {
  if (choice.data == "-")
    throw Error("[--data] training reads the data several times: give a file, not a pipe");
  if (!(choice.share > 0 && choice.share < 1)) {
    throw Error(fmt::format("[--validation-share] must be between 0 and 1, not {}", choice.share));
  }
  PreparedTask prepared{};
  recognise(choice, prepared);
  prepared.many_labels = !choice.read.label_separator.empty() && prepared.task->model != "tokens";
  prepared.parts = parts_of(choice.data, choice.validation, choice.test, choice.read, choice.share);
  for (DataPart* part : {&prepared.parts.train, &prepared.parts.validation})
    part->blocks = !prepared.task->labelled;
  prepared.settings.task = prepared.task->name;
  prepared.settings.truncate = choice.truncate;
  prepared.settings.stride = choice.stride;
  prepared.settings.mask_share = choice.mask_share;
  prepared.settings.mask_span = choice.mask_span;
  count_labels(prepared, progress);
  add_unlabelled(choice, prepared, progress);
  std::string kind = choice.tokenizer;
  if (kind.empty()) {
    kind = prepared.task->tokenizer;
    if (kind == "words" && prepared.blanks * kLongestWord < prepared.bytes) kind = "bpe";
    if (!choice.learn_tokenizer && find_tokenizer(kind).train != nullptr) kind = "bytes";
  }
  // A kind comes before a file of the same name, which is ./words.
  const bool named = std::ranges::any_of(
      tokenizers(), [&](const TokenizerKind* known) { return known->name == kind; });
  if (!named && std::filesystem::exists(kind)) {
    prepared.tokenizer = load_tokenizer(kind);
  } else {
    prepared.tokenizer = learn_tokenizer(find_tokenizer(kind), choice, prepared, threads, progress);
  }
  return prepared;
}

void check_later_parts(const PreparedTask& task, const ModelConfig& config, const Show& progress) {
  const auto check = [&](const DataPart& part, const std::string& what) {
    check_examples(part, ExampleMaker(task.settings, *task.tokenizer, config, true),
                   [&](double done) { progress(what, done); });
  };
  const DataParts& parts = task.parts;
  if (parts.validation.side == DataPart::Side::all) check(parts.validation, "reading validation");
  if (parts.test) check(*parts.test, "reading test");
}

void fit_model(const PreparedTask& prepared, bool length_given, ModelConfig& config) {
  const Task& task = *prepared.task;
  config.task = task.model;
  const int64_t ids = prepared.tokenizer->vocabulary();
  config.vocab = ids + task.masked;
  config.classes = task.labelled ? static_cast<int64_t>(prepared.settings.labels.size()) : ids;
  if (prepared.many_labels) config.loss = "sigmoid";
  config.causal = config.causal || task.causal;
  if (task.model == "tokens") config.pool = "none";
  if (length_given) return;
  // A text has at most as many tokens as bytes.
  const int64_t longest = std::max<int64_t>(prepared.longest, 1);
  config.length = task.cut                  ? std::min(task.length, longest)
                  : prepared.format->pixels ? longest
                                            : task.length;
}

}  // namespace linnet
