// rival_fasttext.cpp -- the program fasttext beside a model: words alone, and with pairs of words.
//
// Joulin et al., "Bag of tricks for efficient text classification", 2017: 10 hidden units, lower
// case, marks split off; learning rate and epochs are chosen on validation.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "cli/output_file.h"
#include "cli/terminal.h"
#include "cli/text_rivals.h"
#include "core/error.h"
#include "core/random.h"
#include "data/word_split.h"
#include "train/metrics.h"

extern char** environ;

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "fasttext";
constexpr const char* kRates[] = {"0.1", "0.5"};
constexpr const char* kEpochs[] = {"5", "25"};

// Runs the program with its output in a file, to its end. Returns its exit code; -1: it is not
// there.
int run_program(const std::vector<std::string>& arguments, const fs::path& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words = {const_cast<char*>(kProgram)};
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t process = -1;
  const int failure = posix_spawnp(&process, kProgram, &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failure != 0 || waitpid(process, &status, 0) != process) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void check_fasttext() {
  if (run_program({}, "/dev/null") < 0)
    throw Error("[--against] fasttext is not installed: apt-get install fasttext");
}

double run_timed(const std::vector<std::string>& arguments, const fs::path& output) {
  const Clock::time_point start = Clock::now();
  if (const int code = run_program(arguments, output); code != 0)
    throw Error(fmt::format("[--against] fasttext {} ended with code {}", arguments[0], code));
  return seconds_since(start);
}

// A part as fasttext takes it: "__label__CLASS word word ...", one text a line.
struct Lines {
  std::vector<std::string> lines;
  std::vector<int> classes;
};
Lines read_lines(const DataPart& part, const LabelSet& labels) {
  Lines all;
  PartReader reader(part);
  for (Record record; reader.next(record);) {
    all.classes.push_back(labels.classes_of(record)[0]);
    std::string& line = all.lines.emplace_back(fmt::format("__label__{}", all.classes.back()));
    WordReader words(record.text, {.lower_case = true, .split_punctuation = true});
    for (std::string_view word; words.next(word);) line.append(" ").append(word);
    line += '\n';
  }
  return all;
}
void write_lines(const std::vector<std::string>& lines, const fs::path& path) {
  OutputFile file(path.string());
  for (const std::string& line : lines) file.write(line);
  file.close();
}
// It learns in the order of the file, and files are often sorted by class.
void shuffle(std::vector<std::string>& lines) {
  Random random(1);
  for (size_t i = lines.size(); i > 1; --i)
    std::swap(lines[i - 1], lines[random.below(static_cast<uint32_t>(i))]);
}

class FastText {
 public:
  FastText(const TextContest& contest, int ngrams)
      : contest_(contest), ngrams_(ngrams), model_(contest.folder / "fasttext") {}

  double train(const std::string& texts, const char* rate, const char* epochs) const {
    return run_timed({"supervised", "-input", file(texts), "-output", model_.string(), "-dim", "10",
                      "-wordNgrams", std::to_string(ngrams_), "-lr", rate, "-epoch", epochs,
                      "-thread", std::to_string(contest_.context.threads()), "-verbose", "0"},
                     contest_.folder / "log");
  }
  double predict(const std::string& texts) const {
    return run_timed({"predict", bin().string(), file(texts)}, contest_.folder / "labels");
  }
  // What the last predict said, against the truth.
  ConfusionMatrix compare(const std::vector<int>& actual) const {
    const int classes = static_cast<int>(contest_.prepared.settings.labels.size());
    ConfusionMatrix confusion(classes);
    std::ifstream labels(contest_.folder / "labels");
    std::string line;
    for (const int truth : actual) {
      int answer = 0;  // an empty line: it knew none of the words
      if (!std::getline(labels, line)) throw Error("[--against] fasttext left texts unanswered");
      if (line.starts_with("__label__")) std::from_chars(&line[9], &line[line.size()], answer);
      confusion.add(truth, std::clamp(answer, 0, classes - 1));
    }
    return confusion;
  }
  fs::path bin() const { return model_.string() + ".bin"; }

 private:
  std::string file(const std::string& part) const {
    return (contest_.folder / (part + ".txt")).string();
  }
  const TextContest& contest_;
  int ngrams_;
  fs::path model_;
};

TextFigures run_ngrams(const TextContest& contest, int ngrams, const std::vector<int>& validation,
                       const std::vector<int>& scored) {
  const FastText fasttext(contest, ngrams);
  TextFigures figures{.model = fmt::format("fasttext, {}", ngrams == 1 ? "words" : "pairs")};
  const fs::path best = contest.folder / "best.bin";
  double most = -1;
  const char *best_rate = nullptr, *best_epochs = nullptr;
  const Clock::time_point start = Clock::now();
  for (const char* epochs : kEpochs) {
    for (const char* rate : kRates) {
      const double seconds = fasttext.train("train", rate, epochs);
      fasttext.predict("validation");
      const double accuracy = fasttext.compare(validation).accuracy();
      contest.show(fmt::format("{}: rate {}, {} epochs, validation {:.4f}", figures.model, rate,
                               epochs, accuracy));
      if (accuracy <= most) continue;
      most = accuracy;
      figures.seconds = seconds;
      best_rate = rate;
      best_epochs = epochs;
      fs::rename(fasttext.bin(), best);
    }
  }
  if (contest.prepared.parts.test) {
    contest.show(figures.model + ": on validation too");
    figures.seconds = fasttext.train("all", best_rate, best_epochs);
  } else {
    fs::rename(best, fasttext.bin());
  }
  figures.search_seconds = seconds_since(start);
  figures.settings =
      fmt::format("-wordNgrams {} -lr {} -epoch {} -dim 10", ngrams, best_rate, best_epochs);
  figures.bytes = static_cast<int64_t>(fs::file_size(fasttext.bin()));
  const double loading = fasttext.predict("one"), all = fasttext.predict("scored");
  const ConfusionMatrix confusion = fasttext.compare(scored);
  figures.texts = static_cast<int64_t>(scored.size());
  figures.texts_per_s = static_cast<double>(scored.size()) / std::max(all - loading, 1e-3);
  figures.accuracy = confusion.accuracy();
  figures.macro_f1 = confusion.macro_f1();
  return figures;
}

std::vector<TextFigures> run_fasttext(const TextContest& contest) {
  const LabelSet labels(contest.prepared.settings.labels);
  const DataParts& parts = contest.prepared.parts;
  contest.show("fasttext: writing texts");
  const auto write_part = [&](const DataPart& part, const char* name) {
    Lines all = read_lines(part, labels);
    write_lines(all.lines, contest.folder / name);
    return all;
  };
  const std::vector<int> scored = write_part(contest.scored, "scored.txt").classes;
  const Lines validation = write_part(parts.validation, "validation.txt");
  std::vector<std::string> train = read_lines(parts.train, labels).lines;
  shuffle(train);
  write_lines(train, contest.folder / "train.txt");
  if (parts.test) {
    train.insert(train.end(), validation.lines.begin(), validation.lines.end());
    shuffle(train);
    write_lines(train, contest.folder / "all.txt");
  }
  write_lines({"one\n"}, contest.folder / "one.txt");
  return {run_ngrams(contest, 1, validation.classes, scored),
          run_ngrams(contest, 2, validation.classes, scored)};
}

}  // namespace

extern const TextRival kFastTextRival = {
    .name = "fasttext",
    .summary = "fastText, with words alone and with pairs of words",
    .check = check_fasttext,
    .run = run_fasttext,
};

}  // namespace linnet
