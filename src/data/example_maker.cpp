// example_maker.cpp -- what the tasks share: tokens, windows and labels of a record.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "data/mask.h"
#include "data/task.h"

namespace linnet {

void check_task_settings(const TaskSettings& settings, const ModelConfig& model) {
  const Task& task = find_task(settings.task);
  parse_truncation(settings.truncate);
  if (settings.stride < 0 || settings.stride > model.length) {
    throw Error(fmt::format("[data.stride] must be 0 to the model's length of {} tokens, not {}",
                            model.length, settings.stride));
  }
  if (settings.stride > 0 && (task.model != "classify" || !task.cut)) {
    throw Error(fmt::format("[data.stride] task \"{}\" does not look at windows", task.name));
  }
  check_masking("data", settings.mask_share, settings.mask_span);
  if (model.task != task.model) {
    throw Error(fmt::format("[data.task] task \"{}\" is for a model with task \"{}\", not \"{}\"",
                            task.name, task.model, model.task));
  }
  if (task.labelled && static_cast<int64_t>(settings.labels.size()) != model.classes) {
    throw Error(fmt::format("[data.labels] has {} names for {} classes", settings.labels.size(),
                            model.classes));
  }
}

namespace {

bool cut_at_end(const Task& task, int64_t stride, Truncation truncation) {
  return task.cut && stride == 0 && truncation == Truncation::kHead;
}

// A byte or character alone is nearly told by its neighbours, a word is not.
double span_of(const TaskSettings& settings, const Tokenizer& tokenizer) {
  if (settings.mask_span > 0) return settings.mask_span;
  return tokenizer.kind() == "bytes" || tokenizer.kind() == "chars" ? 3 : 1;
}

}  // namespace

int64_t read_length(const TaskSettings& settings, const ModelConfig& model) {
  return cut_at_end(find_task(settings.task), settings.stride, parse_truncation(settings.truncate))
             ? read_length(model)
             : model.length;
}

ExampleMaker::ExampleMaker(const TaskSettings& settings, const Tokenizer& tokenizer,
                           const ModelConfig& model, bool labelled)
    : task_(find_task(settings.task)),
      tokenizer_(tokenizer),
      labels_(settings.labels),
      truncation_(parse_truncation(settings.truncate)),
      length_(read_length(settings, model)),
      stride_(settings.stride),
      labelled_(labelled && task_.labelled),
      many_labels_(model.loss == "sigmoid") {
  check_task_settings(settings, model);
  const int64_t ids = int64_t{tokenizer.vocabulary()} + task_.masked;
  if (ids > model.vocab) {
    throw Error(fmt::format("[tokenizer] has {} ids{}, the model's vocabulary only {}", ids,
                            task_.masked ? " with the mask" : "", model.vocab));
  }
  if (task_.masked)
    masking_ = {.share = settings.mask_share,
                .span = span_of(settings, tokenizer),
                .vocabulary = tokenizer.vocabulary()};
}

void ExampleMaker::add(const Record& record, int64_t number, std::vector<Example>& out) {
  size_t at = out.size();
  task_.make(*this, record, number, out);
  for (uint64_t piece = 0; varies() && at < out.size(); ++at) {
    Random random(static_cast<uint64_t>(number), piece++);
    vary(random, out[at]);
  }
}

void ExampleMaker::finish(std::vector<Example>& out) {
  if (!rest_.empty()) add(Record(), 0, out);
}

std::vector<int32_t> ExampleMaker::encode(const Record& record, std::string_view text) const {
  std::vector<int32_t> tokens;
  const bool head = cut_at_end(task_, stride_, truncation_);
  // Piece by piece, between words: no kind of token goes across the end of one, so what is left
  // out changes nothing.
  const size_t piece = head ? static_cast<size_t>(length_) * 2 : text.size();
  while (!text.empty() && (!head || static_cast<int64_t>(tokens.size()) < length_)) {
    const size_t end = std::min(text.find(' ', std::min(piece, text.size())), text.size());
    encode_all(record, text.substr(0, end), tokens);
    text.remove_prefix(end);
  }
  if (tokens.empty()) tokens.push_back(0);  // an empty text has its answer, too
  return tokens;
}

void ExampleMaker::encode_all(const Record& record, std::string_view text,
                              std::vector<int32_t>& tokens) const {
  try {
    tokenizer_.encode(text, tokens);
  } catch (const Error& error) {
    throw Error(fmt::format("[{}] {}", place_of(record), error.what()));
  }
}

std::vector<TokenRange> ExampleMaker::ranges(const Record& record,
                                             std::vector<int32_t>& tokens) const {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count > length_ && !task_.cut) {
    throw Error(
        fmt::format("[{}] has {} tokens, the model takes {}", place_of(record), count, length_));
  }
  if (stride_ > 0) return sliding_windows(count, length_, stride_);
  truncate(tokens, length_, truncation_);
  return {{0, static_cast<int64_t>(tokens.size())}};
}

void ExampleMaker::set_label(const Record& record, Example& example) const {
  example.label = -1;
  if (!labelled_) return;
  const std::vector<int> classes = labels_.classes_of(record);
  if (many_labels_) {
    example.targets.assign(classes.begin(), classes.end());
  } else if (classes.size() > 1) {
    throw Error(
        fmt::format("[{}] has {} labels, one is expected", place_of(record), classes.size()));
  } else {
    example.label = classes.front();
  }
}

}  // namespace linnet
