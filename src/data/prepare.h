// prepare.h -- from a path to a task: which task it is, its classes, its tokenizer, a model that
// fits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/part.h"
#include "data/task.h"
#include "data/tokenizer.h"

namespace linnet {

// What the user said; what is empty is chosen.
struct DataChoice {
  std::string data, validation = {}, test = {};  // paths
  std::vector<std::string> unlabelled = {};      // paths of texts to pretrain on
  std::string task = {};
  std::string tokenizer = {};   // a kind, or the file of one
  bool learn_tokenizer = true;  // else bytes where it would have to be learnt
  int64_t vocabulary = 0;
  std::string truncate = "head";
  int64_t stride = 0;
  double mask_share = 0.15, mask_span = 0;
  double share = 0.1;  // of validation, where it is split from train
  ReadOptions read = {};
};

struct PreparedTask {
  const Task* task;
  const Format* format;
  std::vector<Column> columns;
  DataParts parts;
  TaskSettings settings;
  bool many_labels;
  std::vector<std::pair<std::string, int64_t>> counts;  // of the labels, in order of the classes
  int64_t records = 0, bytes = 0, longest = 0;          // of train; longest text in bytes
  int64_t blanks = 0;                                   // of bytes
  int64_t validation_records = 0;                       // where there are labels
  std::vector<DataPart> unlabelled;
  int64_t unlabelled_records = 0, unlabelled_bytes = 0;
  // hash_records of train and validation, and of what is unlabelled (0: nothing is).
  uint64_t content = 0, unlabelled_content = 0;
  std::shared_ptr<const Tokenizer> tokenizer;  // also of the task that it is pretrained on
};

// One pass over train and validation for the classes and the hash of what they have, one for the
// tokenizer where it has to learn. `progress` is told what is being done, and its share, -1 when
// unknown.
PreparedTask prepare(const DataChoice& choice, int threads,
                     const std::function<void(const std::string& what, double done)>& progress);

// Makes all examples of test, and of validation where it has data of its own, which a run reads in
// part or at its end alone: a fault in them is an Error now, not after hours.
void check_later_parts(const PreparedTask& task, const ModelConfig& config,
                       const std::function<void(const std::string& what, double done)>& progress);

// The parts of a model that the data decides, put into a config: task, vocabulary, classes, length
// unless it was given, causal, pooling, loss.
void fit_model(const PreparedTask& task, bool length_given, ModelConfig& config);

}  // namespace linnet
