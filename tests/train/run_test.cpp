// run_test.cpp -- runs in a folder: they go on as if never stopped, count their tokens, name the
// batch that spoils them, and never bind a folder that they cannot use.
#include "train/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "core/file.h"
#include "models/model_folder.h"
#include "tests/train/state_file.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

class RunTest : public testing::Test {
 protected:
  // 60 texts "w!", "w#", ...: each has a byte that no other has. Validation is them in another
  // order.
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("linnet_run_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
    for (const char* name : {"train.tsv", "validation.tsv"}) {
      std::ofstream file(root_ / name);
      file << "text\tlabel\n";
      for (int row = 0; row < 60; ++row) {
        const int i = name == std::string("train.tsv") ? row : 59 - row;
        file << std::string(static_cast<size_t>(1 + i % 5), 'w') << static_cast<char>('#' + i)
             << '\t' << i % 2 << '\n';
      }
    }
    const DataChoice choice{.data = (root_ / "train.tsv").string(),
                            .validation = (root_ / "validation.tsv").string(),
                            .tokenizer = "bytes"};
    prepared_ = prepare(choice, 1, [](const std::string&, double) {});
    config_.width = config_.hidden = config_.head_units = 8;
    config_.heads = 2;
    config_.blocks = 1;
    config_.dropout = 0.1;
    config_.ngrams = 2;
    config_.ngram_buckets = 64;
    fit_model(prepared_, false, config_);
  }
  void TearDown() override { fs::remove_all(root_); }

  // On validation, of a whole run in a folder that is called as its number of threads.
  TaskScore score_with_sides(const char* threads) {
    Context context(std::stoi(threads));
    fs::create_directories(root_ / threads);
    linnet::Run run(context, root_ / threads, config_, prepared_, settings());
    while (!run.finished()) run.advance();
    run.fit_sides([](const std::string&) {});
    return run.score_validation();
  }

  static RunSettings settings() {
    RunSettings settings;
    settings.batch = 4;
    settings.steps = 12;
    settings.ema = 0.9;
    settings.warmup = 3;
    settings.evaluations = 3;
    settings.checkpoint_every = 1000;
    return settings;
  }
  linnet::Run run(const char* folder, const RunSettings& settings) {
    fs::create_directories(root_ / folder);
    return linnet::Run(context_, root_ / folder, config_, prepared_, settings);
  }
  std::string file(const char* folder, const char* name) const {
    return read_file(root_ / folder / name, 1 << 20);
  }
  template <class Do>
  static std::string message(const Do& run) {
    try {
      run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  Context context_{2};
  fs::path root_;
  PreparedTask prepared_;
  ModelConfig config_;
};

TEST(Figures, EachTaskHasItsOwn) {
  for (const Task* task : tasks()) {
    ModelConfig config;
    config.task = task->model;
    const std::vector<std::string_view> figures = choosing_figures(config, *task);
    EXPECT_NE(std::ranges::find(figures, task->metric), figures.end()) << task->name;
  }
}

TEST(Figures, KnowWhatIsBetter) {
  const double nan = std::nan("");
  for (const char* figure : {"accuracy", "macro_f1", "micro_f1", "roc_auc"}) {
    EXPECT_TRUE(is_better(figure, {0.9, 2}, {0.8, 1})) << figure;
    EXPECT_FALSE(is_better(figure, {0.8, 1}, {0.9, 2})) << figure;
  }
  for (const char* figure : {"loss", "bits_per_byte"}) {
    EXPECT_TRUE(is_better(figure, {0.8, 0.8}, {0.9, 0.9})) << figure;
    EXPECT_FALSE(is_better(figure, {0.9, 0.9}, {0.8, 0.8})) << figure;
  }
  EXPECT_TRUE(is_better("roc_auc", {0.1, 2}, {nan, 1}));
  EXPECT_FALSE(is_better("roc_auc", {nan, 1}, {0.1, 2}));
  for (const double same : {0.5, nan}) {
    EXPECT_TRUE(is_better("roc_auc", {same, 1}, {same, 2}));
    EXPECT_FALSE(is_better("roc_auc", {same, 2}, {same, 2}));
  }
}

TEST_F(RunTest, ChoosesByTheFigureThatIsNamed) {
  for (const std::string_view figure : choosing_figures(config_, *prepared_.task)) {
    RunSettings noisy = settings();
    noisy.choose_by = figure;
    noisy.evaluations = 12;
    noisy.lr = 0.3;
    fs::remove_all(root_ / "chosen");
    linnet::Run chosen = run("chosen", noisy);
    while (!chosen.finished()) chosen.advance();
    std::vector<double> values;
    std::istringstream lines(file("chosen", "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json look = nlohmann::json::parse(line);
      if (look.contains("validation_loss"))
        values.push_back(look.at("validation_" + noisy.choose_by).get<double>());
    }
    ASSERT_EQ(values.size(), 12);
    EXPECT_EQ(chosen.best(), figure == "loss" ? std::ranges::min(values) : std::ranges::max(values))
        << figure;
  }
}

TEST_F(RunTest, GoesOnBitForBit) {
  RunSettings by_steps = settings(), by_epochs = settings(), by_tokens = settings();
  by_epochs.steps = 0;
  by_epochs.epochs = 1.5;
  by_epochs.window = 70;  // about a third of the data
  by_tokens.batch = 1;
  by_tokens.accumulate_tokens = 20;
  by_tokens.drop_tokens = 0.3;
  for (const RunSettings& settings : {by_steps, by_epochs, by_tokens}) {
    fs::remove_all(root_ / "whole");
    fs::remove_all(root_ / "parts");
    int64_t steps = 0;
    {
      linnet::Run whole = run("whole", settings);
      EXPECT_FALSE(whole.resumed());
      while (!whole.finished()) whole.advance();
      whole.save_checkpoint();
      steps = whole.steps();
      EXPECT_EQ(whole.evaluations(), 3);
    }
    for (bool finished = false; !finished;) {
      linnet::Run part = run("parts", settings);
      for (int i = 0; i < 5 && !part.finished(); ++i) part.advance();
      finished = part.finished();
      part.save_checkpoint();
      if (!finished) part.advance();  // a step that is lost, and taken again
    }
    EXPECT_EQ(run("parts", settings).steps(), steps);
    EXPECT_TRUE(run("parts", settings).finished());
    for (const char* name : {"model.safetensors", "README.md", "config.json", "run.json"})
      EXPECT_EQ(file("whole", name), file("parts", name)) << name;
    StateFile whole(root_ / "whole/checkpoint.safetensors"),
        parts(root_ / "parts/checkpoint.safetensors");
    for (const auto& [name, numbers] : whole.tensors)
      EXPECT_EQ(numbers.data, parts.tensors.at(name).data) << name;
    // Every line once, with the same figures.
    std::istringstream ours(file("whole", "metrics.jsonl")), theirs(file("parts", "metrics.jsonl"));
    for (std::string a, b; std::getline(ours, a);) {
      ASSERT_TRUE(std::getline(theirs, b));
      nlohmann::json one = nlohmann::json::parse(a), other = nlohmann::json::parse(b);
      for (const char* time : {"seconds", "tokens_per_s"}) {
        one.erase(time);
        other.erase(time);
      }
      EXPECT_EQ(one, other);
    }
    EXPECT_EQ(theirs.peek(), EOF);
  }
}

TEST_F(RunTest, ARunThatBeganByAccuracyGoesOnByLoss) {
  {
    linnet::Run first = run("run", settings());
    for (int i = 0; i < 6; ++i) first.advance();
    first.save_checkpoint();
    EXPECT_LE(first.best(), 1);
  }
  Task by_loss = *prepared_.task;
  by_loss.metric = "loss";
  prepared_.task = &by_loss;
  linnet::Run second = run("run", settings());
  EXPECT_TRUE(second.resumed());
  EXPECT_EQ(second.best(), second.best_loss());
}

TEST_F(RunTest, DroppedTokensAreOthersInEveryEpoch) {
  RunSettings settings = RunTest::settings();
  settings.batch = 60;  // all of train
  settings.steps = 3;
  settings.drop_tokens = 0.5;
  linnet::Run run = RunTest::run("dropped", settings);
  std::vector<int64_t> tokens;
  while (!run.finished()) tokens.push_back(run.advance().tokens);
  EXPECT_FALSE(tokens[0] == tokens[1] && tokens[1] == tokens[2]) << tokens[0];
}

TEST_F(RunTest, SidePartsAreAddedAtTheEndAndOnce) {
  config_.wide = 2;
  config_.wide_bits = 10;
  config_.regions = 2;
  config_.region_units = 64;
  std::string notes;
  const auto show = [&](const std::string& what) { notes += what + "\n"; };
  const auto finish = [&](const char* folder) {
    linnet::Run run = RunTest::run(folder, settings());
    while (!run.finished()) run.advance();
    run.save_checkpoint();
    run.fit_sides(show);
    return std::pair{run.best_loss(), run.score_best(prepared_.parts.validation).figure("loss")};
  };
  const auto [deep, both] = finish("whole");
  EXPECT_LT(both, 0.95 * deep);  // train and validation are the same texts
  EXPECT_NE(notes.find("n-grams alone: "), std::string::npos) << notes;
  EXPECT_NE(notes.find("of the n-grams, "), std::string::npos) << notes;
  EXPECT_NE(notes.find("regions, pass 20 of 20"), std::string::npos) << notes;
  EXPECT_EQ(load_config(root_ / "whole").wide, 2);
  EXPECT_EQ(load_config(root_ / "whole").regions, 2);
  const std::string model = file("whole", "model.safetensors");
  notes.clear();
  finish("whole");  // goes on: there is nothing to do
  EXPECT_EQ(notes, "");
  EXPECT_EQ(file("whole", "model.safetensors"), model);
  // A kill after the first file of the last save, then one in the middle of everything.
  std::string config = file("whole", "config.json");
  for (const std::string part : {"\"wide\": ", "\"regions\": "})
    config.replace(config.find(part), part.size() + 1, part + "0");
  std::ofstream(root_ / "whole/config.json") << config;
  finish("whole");
  finish("again");
  for (const char* name : {"model.safetensors", "README.md", "config.json"})
    EXPECT_EQ(file("whole", name), file("again", name)) << name;
}

TEST_F(RunTest, WidePartOfPairsIsOfWhatTheyShare) {
  // Pairs belong together by one of five words that both have; every word alone says nothing.
  const std::string words[] = {"red", "green", "blue", "black", "white"};
  std::ofstream table(root_ / "pairs.tsv");
  table << "text1\ttext2\tlabel\n";
  for (size_t i = 0; i < 400; ++i) {
    const size_t word = i % 5, other = i % 2 == 1 ? word : (word + 1 + i / 10 % 4) % 5;
    const std::string own(1 + i / 20, static_cast<char>('a' + i % 20));  // no other text has it
    table << words[word] << " one" << own << "\ttwo" << own << ' ' << words[other] << '\t' << i % 2
          << '\n';
  }
  table.close();
  prepared_ = prepare({.data = (root_ / "pairs.tsv").string(), .tokenizer = "words"}, 1,
                      [](const std::string&, double) {});
  fit_model(prepared_, false, config_);
  ASSERT_EQ(config_.task, "match");
  config_.wide = 2;
  config_.wide_bits = 14;
  for (const char* threads : {"1", "3"}) {
    const TaskScore score = score_with_sides(threads);
    EXPECT_EQ(score.figure("accuracy"), 1);
    EXPECT_LT(score.figure("loss"), 0.1);
  }
  EXPECT_EQ(file("1", "model.safetensors"), file("3", "model.safetensors"));
}

TEST_F(RunTest, ValidationJudgesSidePartsThatHaveNotSeenIt) {
  // The label hangs on the text's own pair of words: what was not seen cannot be known.
  std::ofstream table(root_ / "apart.tsv");
  table << "text\tlabel\n";
  for (int i = 0; i < 400; ++i)
    table << "w" << i * 7919 % 1000 << " v" << i << "\tclass" << i * i % 7 % 2 << '\n';
  table.close();
  prepared_ = prepare({.data = (root_ / "apart.tsv").string(), .tokenizer = "words"}, 1,
                      [](const std::string&, double) {});
  fit_model(prepared_, false, config_);
  config_.wide = 2;
  config_.wide_bits = 14;
  config_.regions = 2;
  config_.region_units = 64;
  Context context(1);
  const auto finish = [&] {
    linnet::Run run(context, root_ / "apart", config_, prepared_, settings());
    while (!run.finished()) run.advance();
    run.save_checkpoint();
    run.fit_sides([](const std::string&) {});
    return std::pair{run.score_validation().figures,
                     run.score_best(prepared_.parts.validation).figure("loss")};
  };
  fs::create_directories(root_ / "apart");
  const auto [judged, seen] = finish();
  EXPECT_EQ(judged[0].first, "loss");
  EXPECT_LT(seen, judged[0].second);
  const std::string row = fmt::format("| validation loss | {:.4f} |", judged[0].second);
  EXPECT_NE(file("apart", "README.md").find(row), std::string::npos) << row;
  EXPECT_EQ(finish().first, judged);  // a run that goes on remembers
  const fs::path checkpoint = root_ / "apart/checkpoint.safetensors";
  const StateFile good(checkpoint);
  for (const char* wrong : {R"([["loss"]])", R"([["loss", "1"]])", R"([["\u001b[2J", 1]])", "7"}) {
    StateFile spoilt = good;
    for (auto& [key, note] : spoilt.metadata) {
      if (note.find("wide_figures") == note.npos) continue;
      nlohmann::ordered_json json = nlohmann::ordered_json::parse(note);
      json["wide_figures"] = nlohmann::json::parse(wrong);
      note = json.dump();
    }
    spoilt.write(checkpoint);
    EXPECT_THROW(finish(), Error) << wrong;
  }
}

TEST_F(RunTest, SidePartsOfManyClassesOnAnyNumberOfThreads) {
  std::ofstream table(root_ / "many.tsv");
  table << "text\tlabel\n";
  for (int i = 0; i < 300; ++i)
    table << static_cast<char>('a' + i % 5) << static_cast<char>('a' + i / 5 % 26) << i << "\tclass"
          << i % 5 << '\n';
  table.close();
  prepared_ = prepare({.data = (root_ / "many.tsv").string(), .tokenizer = "bytes"}, 1,
                      [](const std::string&, double) {});
  fit_model(prepared_, false, config_);
  config_.wide = 2;
  config_.wide_bits = 10;
  config_.regions = 2;
  config_.region_units = 128;
  // The first byte tells the class: n-grams see it at once, twelve steps do not.
  for (const char* threads : {"1", "3"})
    EXPECT_GT(score_with_sides(threads).figure("accuracy"), 0.9);
  EXPECT_EQ(file("1", "model.safetensors"), file("3", "model.safetensors"));
}

TEST_F(RunTest, AStepHasAsManyBatchesAsItTakesToItsTokens) {
  RunSettings settings = RunTest::settings();
  settings.batch = 1;  // of 2 to 6 tokens
  settings.accumulate = 3;
  settings.accumulate_tokens = 25;
  linnet::Run by_tokens = run("tokens", settings);
  int64_t tokens = 0;
  while (!by_tokens.finished()) {
    const int64_t step = by_tokens.advance().tokens;
    EXPECT_GE(step, 25);
    EXPECT_LT(step, 25 + 6);
    tokens += step;
  }
  EXPECT_EQ(by_tokens.steps(), 12);
  EXPECT_EQ(by_tokens.tokens(), tokens);
  // One token is one batch: the same run as without.
  settings.accumulate_tokens = 1;
  linnet::Run one = run("one", settings);
  settings.accumulate = 1;
  settings.accumulate_tokens = 0;
  linnet::Run plain = run("plain", settings);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(plain.advance().loss, one.advance().loss);
}

// The embedding of a byte is spoilt that only one record has, in the third batch of the second
// step.
TEST_F(RunTest, NamesTheBatchInWhichItBegan) {
  RunSettings settings = RunTest::settings();
  settings.accumulate = 4;
  Feed feed(
      [&] {
        return std::make_unique<ExampleStream>(
            prepared_.parts.train,
            ExampleMaker(prepared_.settings, *prepared_.tokenizer, config_, true));
      },
      feed_options(settings));
  for (int i = 0; i < 6; ++i) feed.next();
  const Example chosen = *feed.next()[1];
  {
    linnet::Run first = run("nan", settings);
    first.advance();
    first.save_checkpoint();
  }
  const fs::path path = root_ / "nan/checkpoint.safetensors";
  StateFile state(path);
  state.tensors.at("values.embed.weight")
      .data.at(static_cast<size_t>(chosen.tokens.back() * config_.width)) = NAN;
  state.write(path);
  const std::string before = file("nan", "checkpoint.safetensors");
  linnet::Run second = run("nan", settings);
  const std::string found = message([&] { second.advance(); });
  EXPECT_TRUE(found.starts_with("[train] step 2, batch 3: parameter embed.weight is nan")) << found;
  EXPECT_EQ(second.steps(), 1);
  EXPECT_EQ(file("nan", "checkpoint.safetensors"), before);
}

TEST_F(RunTest, SettingsThatMakeNoRunDoNotBindTheFolder) {
  RunSettings wrong = settings();
  wrong.steps = 0;
  EXPECT_NE(message([&] { run("model", wrong); }).find("needs an end"), std::string::npos);
  wrong = settings();
  wrong.ema = 2;
  EXPECT_NE(message([&] { run("model", wrong); }).find("train.ema"), std::string::npos);
  run("model", settings()).advance();
  RunSettings other = settings();
  other.lr = 0.5;
  EXPECT_NE(message([&] { run("model", other); }).find("train.lr = 0.003, not 0.5"),
            std::string::npos);
}

TEST_F(RunTest, AModelOfNoRunIsLeftAlone) {
  for (const std::string name : {"config.json", "README.md", "metrics.jsonl", "model.safetensors",
                                 "tokenizer.json", "tokenizer.model"}) {
    fs::remove_all(root_ / "model");
    fs::create_directories(root_ / "model");
    write_file(root_ / "model" / name, "{}");
    const std::string found = message([&] { run("model", settings()); });
    EXPECT_EQ(found.find("[" + (root_ / "model" / name).string() + "] is not known to be linnet's"),
              0u)
        << found;
    EXPECT_EQ(file("model", name.c_str()), "{}");
    EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "model"), {}), 1) << name;
  }
}

TEST_F(RunTest, AFolderOfARunGoesOnUnlessItsCardIsOfOthers) {
  run("model", settings()).save_checkpoint();
  fs::remove(root_ / "model/tokenizer.json");  // a kill after the first file
  while (!run("model", settings()).finished()) {
    linnet::Run more = run("model", settings());
    for (int i = 0; i < 5 && !more.finished(); ++i) more.advance();
    more.save_checkpoint();
  }
  const std::string card = file("model", "README.md");
  for (const std::string& other : {"# Mine\n" + card, card + "Mine.\n", std::string("Mine.\n")}) {
    write_file(root_ / "model/README.md", other);
    EXPECT_NE(message([&] { run("model", settings()); }).find("README.md] is not known"),
              std::string::npos);
    EXPECT_EQ(file("model", "README.md"), other);
  }
}

// The state is spoken of only where there is one.
TEST_F(RunTest, NoGoodStateIsNamedWhereThereIsNone) {
  RunSettings settings = RunTest::settings();
  settings.lr = 1e9;
  settings.warmup = 1;
  settings.schedule = "constant";
  settings.clip = 0;
  settings.evaluations = 1;
  linnet::Run broken = run("nothing", settings);
  const std::string found = message([&] {
    while (!broken.finished()) broken.advance();
  });
  EXPECT_TRUE(found.starts_with("[train] step ")) << found;
  EXPECT_EQ(found.find("last good state"), std::string::npos) << found;
}

// Deleted while it trains: a new folder of the name is not the run's.
TEST_F(RunTest, AFolderThatIsGoneEndsTheRun) {
  for (const bool again : {false, true}) {
    linnet::Run gone = run("gone", settings());
    gone.advance();
    fs::remove_all(root_ / "gone");
    if (again) fs::create_directories(root_ / "gone");
    EXPECT_NE(message([&] {
                while (!gone.finished()) gone.advance();
                gone.save_checkpoint();
              }).find("gone"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(root_ / "gone/checkpoint.safetensors"));
  }
}

}  // namespace
}  // namespace linnet
