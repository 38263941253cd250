// text_rivals.h -- other classifiers of texts, on the same data as a model of linnet; one record a
// kind, one line in bench_text.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/context.h"
#include "data/prepare.h"

namespace linnet {

// Told what is being done.
using TextShow = std::function<void(const std::string& what)>;

// What all of them get. Whatever is chosen is chosen on validation; then, where there is a test,
// the model that is scored is trained on train and validation.
struct TextContest {
  Context& context;
  const PreparedTask& prepared;
  DataPart scored;               // test, or validation where there is none
  std::filesystem::path folder;  // for files, emptied by nobody else
  TextShow show;
};

struct TextFigures {
  std::string model = {}, settings = {};
  int64_t texts = 0;  // of the part that it was scored on
  double accuracy = 0, macro_f1 = 0;
  double seconds = 0;         // from texts to a model, with the settings that were chosen
  double search_seconds = 0;  // the same with all settings that were tried
  int64_t bytes = 0;          // of the model on disk
  double texts_per_s = 0;     // that it predicts
};

struct TextRival {
  std::string_view name, summary;
  // An Error where it cannot run; null: it always can.
  void (*check)();
  std::vector<TextFigures> (*run)(const TextContest& contest);
};

}  // namespace linnet
