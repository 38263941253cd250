// card.cpp -- writes a model card.
#include "train/card.h"

#include <fmt/format.h>

#include "core/file.h"

namespace linnet {
namespace {

constexpr std::string_view kTitle = "# A model for ", kAuthor = "Trained by `linnet train`: ",
                           kEnd =
                               "\n    linnet eval DIR test.csv\n"
                               "    linnet predict DIR < texts.txt\n";

}  // namespace

std::string model_card(const PreparedTask& prepared, const Model& model,
                       const RunSettings& settings, int64_t steps, const TaskScore& score) {
  const ModelConfig& config = model.config();
  const int64_t read = read_length(prepared.settings, config);
  std::string card = fmt::format(
      "{}{}\n\n{}{}.\n\n| | |\n| --- | --- |\n"
      "| data | {} records, {} |\n| tokens | {}, {} ids, at most {} a sequence{} |\n"
      "| model | {} parameters: mixer {}, {} blocks of width {} |\n| training | {} steps, seed {} "
      "|\n",
      kTitle, prepared.task->name, kAuthor, prepared.task->summary, prepared.records,
      prepared.format->name, prepared.tokenizer->kind(), config.vocab, config.length,
      read > config.length ? fmt::format(", n-grams from {}", read) : "",
      model.layout().parameters(), mixers_text(config), config.blocks, config.width, steps,
      settings.seed);
  for (const auto& [name, value] : score.figures)
    card += fmt::format("| validation {} | {:.4f} |\n", name, value);
  if (has_side_parts(config))
    card +=
        "\nValidation judged the model before the parts at its side were fitted on validation, "
        "too.\n";
  if (!prepared.settings.labels.empty()) {
    card += "\nClasses: ";
    constexpr size_t kShown = 50;
    for (size_t i = 0; i < std::min(prepared.settings.labels.size(), kShown); ++i)
      card += (i ? ", " : "") + printable(prepared.settings.labels[i], 40);
    card += prepared.settings.labels.size() > kShown ? ", ...\n" : "\n";
  }
  return card.append(kEnd);
}

bool is_model_card(std::string_view text) {
  const size_t second = text.find("\n\n");
  return text.starts_with(kTitle) && text.ends_with(kEnd) && second != text.npos &&
         text.substr(second + 2).starts_with(kAuthor);
}

}  // namespace linnet
