// tasks.cpp -- the list of tasks, and how each makes examples of a record.
#include <fmt/format.h>

#include "core/registry.h"
#include "data/task.h"
#include "data/word_split.h"

namespace linnet {
namespace {

// One sequence and its label, or its window by window with the same label.
void make_sequences(ExampleMaker& maker, const Record& record, int64_t number,
                    std::vector<Example>& out) {
  Example example{.tokens = {}, .record = number};
  maker.set_label(record, example);
  std::vector<int32_t> tokens = maker.encode(record, record.text);
  for (const auto& [begin, end] : maker.ranges(record, tokens)) {
    out.push_back(example);
    out.back().tokens.assign(tokens.begin() + begin, tokens.begin() + end);
  }
}

void make_pair(ExampleMaker& maker, const Record& record, int64_t number,
               std::vector<Example>& out) {
  check_second(record);
  Example example{.tokens = {}, .record = number};
  maker.set_label(record, example);
  for (const bool second : {false, true}) {
    std::vector<int32_t> tokens = maker.encode(record, second ? record.second : record.text);
    const TokenRange range = maker.ranges(record, tokens).front();
    (second ? example.other : example.tokens)
        .assign(tokens.begin() + range.begin, tokens.begin() + range.end);
  }
  out.push_back(std::move(example));
}

// Both texts of a record cut into examples of the model's length; what is left of one that
// continues waits. take(from, n) is given the first of n tokens, and sees `ahead` more.
template <class Take>
void cut_texts(ExampleMaker& maker, const Record& record, int64_t ahead, const Take& take) {
  std::vector<int32_t>& rest = maker.rest();
  for (const std::string_view text : {record.text, record.second}) {
    maker.encode_all(record, text, rest);
    int64_t at = 0;
    const auto left = [&] { return static_cast<int64_t>(rest.size()) - at - ahead; };
    for (; left() >= maker.length(); at += maker.length()) take(rest.begin() + at, maker.length());
    if (!record.continues && left() > 0) take(rest.begin() + at, left());
    rest.erase(rest.begin(), record.continues ? rest.begin() + at : rest.end());
  }
}

// Every token is to be told from those before it: the targets are the tokens, one place on.
void make_text(ExampleMaker& maker, const Record& record, int64_t number,
               std::vector<Example>& out) {
  cut_texts(maker, record, 1, [&](auto from, int64_t n) {
    out.push_back({.tokens = {from, from + n}, .targets = {from + 1, from + n + 1}});
    out.back().record = number;
  });
}

// Some tokens are to be told from those around them: which, ExampleMaker::vary draws.
void make_masked(ExampleMaker& maker, const Record& record, int64_t number,
                 std::vector<Example>& out) {
  cut_texts(maker, record, 0, [&](auto from, int64_t n) {
    out.push_back({.tokens = {from, from + n}});
    out.back().record = number;
  });
}

// The first token of a word bears its label, the others none.
void make_tags(ExampleMaker& maker, const Record& record, int64_t number,
               std::vector<Example>& out) {
  Example example{.tokens = {}, .record = number};
  WordReader words(record.text, {});
  size_t count = 0;
  for (std::string_view word; words.next(word); ++count) {
    const size_t at = example.tokens.size();
    // A word of pieces starts with a blank everywhere but at the start of the text.
    maker.tokenizer().encode(count > 0 ? " " + std::string(word) : std::string(word),
                             example.tokens);
    example.targets.resize(example.tokens.size(), -1);
    if (at == example.tokens.size()) continue;
    if (!maker.labelled()) example.targets[at] = 0;  // says where a word starts
    if (!maker.labelled() || count >= record.labels.size()) continue;
    Record one = record;
    one.labels = {record.labels[count]};
    example.targets[at] = maker.labels().classes_of(one).front();
  }
  if (maker.labelled() && count != record.labels.size()) {
    throw Error(fmt::format("[{}] has {} words and {} labels: each word has one", place_of(record),
                            count, record.labels.size()));
  }
  if (example.tokens.empty()) {
    example.tokens = {0};
    example.targets = {-1};
  }
  const auto length = static_cast<size_t>(maker.length());
  example.tokens.resize(std::min(example.tokens.size(), length));
  example.targets.resize(example.tokens.size());
  out.push_back(std::move(example));
}

constexpr Task kText = {
    .name = "text",
    .summary = "a class for a text; with --label-separator any number of labels",
    .record = "a text and its label",
    .model = "classify",
    .tokenizer = "words",
    .metric = "accuracy",
    .length = 1024,
    .labelled = true,
    .cut = true,
    .causal = false,
    .masked = false,
    .make = make_sequences,
};
constexpr Task kMatching = {
    .name = "matching",
    .summary = "a class for a pair of texts, by two towers of the same weights",
    .record = "two texts and a label",
    .model = "match",
    .tokenizer = "words",
    .metric = "accuracy",
    .length = 1024,
    .labelled = true,
    .cut = true,
    .causal = false,
    .masked = false,
    .make = make_pair,
};
constexpr Task kListops = {
    .name = "listops",
    .summary = "the value of nested MIN, MAX, MED and SM (Long Range Arena)",
    .record = "an expression and its value",
    .model = "classify",
    .tokenizer = "listops",
    .metric = "loss",  // its accuracy is chance for long
    .length = 2000,
    .labelled = true,
    .cut = false,
    .causal = false,
    .masked = false,
    .make = make_sequences,
};
constexpr Task kImage = {
    .name = "image",
    .summary = "a class for an image, read pixel by pixel (Long Range Arena)",
    .record = "grey pixels and a label",
    .model = "classify",
    .tokenizer = "bytes",
    .metric = "accuracy",
    .length = 1024,
    .labelled = true,
    .cut = false,
    .causal = false,
    .masked = false,
    .make = make_sequences,
};
constexpr Task kPathfinderTask = {
    .name = "pathfinder",
    .summary = "whether two dots are on one path (Long Range Arena); 128 x 128 is Path-X",
    .record = "grey pixels and a label",
    .model = "classify",
    .tokenizer = "bytes",
    .metric = "accuracy",
    .length = 1024,
    .labelled = true,
    .cut = false,
    .causal = false,
    .masked = false,
    .make = make_sequences,
};
constexpr Task kLm = {
    .name = "lm",
    .summary = "the next token of a text",
    .record = "a text",
    .model = "tokens",
    .tokenizer = "bytes",
    .metric = "bits_per_byte",
    .length = 512,
    .labelled = false,
    .cut = true,
    .causal = true,
    .masked = false,
    .make = make_text,
};
constexpr Task kMasked = {
    .name = "masked",
    .summary = "hidden tokens of a text, from those around them: for --init",
    .record = "a text",
    .model = "tokens",
    .tokenizer = "bpe",
    .metric = "bits_per_byte",
    .length = 512,
    .labelled = false,
    .cut = true,
    .causal = false,
    .masked = true,
    .make = make_masked,
};
constexpr Task kTagging = {
    .name = "tagging",
    .summary = "a label for every word of a text",
    .record = "words, and as many labels",
    .model = "tokens",
    .tokenizer = "words",
    .metric = "accuracy",
    .length = 512,
    .labelled = true,
    .cut = true,
    .causal = false,
    .masked = false,
    .make = make_tags,
};

}  // namespace

std::span<const Task* const> tasks() {
  static constexpr const Task* kList[] = {&kText,           &kMatching, &kListops, &kImage,
                                          &kPathfinderTask, &kLm,       &kMasked,  &kTagging};
  return kList;
}

const Task& find_task(std::string_view name) { return find_in(tasks(), "task", name); }

const Task& guess_task(const Format& format, const Record& first) {
  if (format.name == "lra-listops") return kListops;
  if (format.name == "pathfinder") return kPathfinderTask;
  if (format.pixels) return kImage;
  if (format.name == "text") return kLm;
  if (format.name == "conll") return kTagging;
  return first.second.empty() ? kText : kMatching;
}

}  // namespace linnet
