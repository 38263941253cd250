// task.h -- what is learnt from data: how a record becomes examples of a model; one record a kind,
// one line in tasks.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/example.h"
#include "data/formats.h"
#include "data/labels.h"
#include "data/mask.h"
#include "data/tokenizer.h"
#include "data/truncation.h"
#include "models/config.h"

namespace linnet {

// What an input must go through to become what the model was trained on; the object "data" of
// config.json.
struct TaskSettings {
  std::string task = "text";
  std::string truncate = "head";  // of sequences that are longer than the model takes
  int64_t stride = 0;             // above 0: not cut, but seen in windows so many tokens apart
  double mask_share = 0.15;       // masked: of the tokens (mask.h)
  double mask_span = 0;           // masked: mean tokens hidden together; 0: by the tokenizer
  std::vector<std::string> labels = {};  // names of the classes in their order; none of lm
};

struct Task;

// The most tokens of a text that any part of the model reads: its wide part can read on only where
// texts are cut at their end.
int64_t read_length(const TaskSettings& settings, const ModelConfig& model);

// Records to examples. A record may give several (windows), or none yet (lm, which puts texts that
// continue together).
class ExampleMaker {
 public:
  // Without `labelled`, labels are not looked at.
  ExampleMaker(const TaskSettings& settings, const Tokenizer& tokenizer, const ModelConfig& model,
               bool labelled);
  // `number` becomes Example::record.
  void add(const Record& record, int64_t number, std::vector<Example>& out);
  // After the last record, or where the next does not continue it.
  void finish(std::vector<Example>& out);
  // What of an example is drawn anew whenever it is trained on; the first draw is the record's own,
  // so an evaluation always sees the same.
  bool varies() const { return masking_.has_value(); }
  void vary(Random& random, Example& example) const { mask_tokens(*masking_, random, example); }

  // For the tasks. Of a text whose end will be cut off no more is encoded than is needed.
  std::vector<int32_t> encode(const Record& record, std::string_view text) const;
  // Of a text that is not cut off: all of it, appended.
  void encode_all(const Record& record, std::string_view text, std::vector<int32_t>& tokens) const;
  // The sequence cut, or in windows.
  std::vector<TokenRange> ranges(const Record& record, std::vector<int32_t>& tokens) const;
  void set_label(const Record& record, Example& example) const;
  const LabelSet& labels() const { return labels_; }
  bool labelled() const { return labelled_; }
  int64_t length() const { return length_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  std::vector<int32_t>& rest() { return rest_; }

 private:
  const Task& task_;
  const Tokenizer& tokenizer_;
  LabelSet labels_;
  Truncation truncation_;
  int64_t length_, stride_;
  bool labelled_, many_labels_;
  std::optional<Masking> masking_;
  std::vector<int32_t> rest_;  // lm, masked: what did not fill an example
};

struct Task {
  std::string_view name, summary;
  std::string_view record;     // what a record holds
  std::string_view model;      // the setting `task` of the model: classify, match or tokens
  std::string_view tokenizer;  // when the user names none
  std::string_view metric;  // the figure of validation that models are chosen by if none is named
  int64_t length;           // tokens, when the user names none
  bool labelled;            // its classes are labels of the data; else they are the tokens
  bool cut;                 // a longer sequence is cut; else it is an Error
  bool causal;
  bool masked;  // tokens are hidden, by an id more than the tokenizer has
  void (*make)(ExampleMaker& maker, const Record& record, int64_t number,
               std::vector<Example>& out);
};

std::span<const Task* const> tasks();
const Task& find_task(std::string_view name);
// The task that data of this format is most likely for.
const Task& guess_task(const Format& format, const Record& first);

// An Error names the field, e.g. "[data.stride] ...".
void check_task_settings(const TaskSettings& settings, const ModelConfig& model);

}  // namespace linnet
