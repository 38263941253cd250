// tokenizer_test.cpp -- what every tokenizer promises, and what each kind does.
#include "data/tokenizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "data/piece_words.h"
#include "data/word_split.h"
#include "tests/data/small_texts.h"

namespace linnet {
namespace {

using Ids = std::vector<int32_t>;

Ids encoded(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  tokenizer.encode(text, ids);
  return ids;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class EveryTokenizer : public testing::TestWithParam<const TokenizerKind*> {};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryTokenizer,
                         testing::ValuesIn(tokenizers().begin(), tokenizers().end()),
                         [](const auto& param) { return std::string(param.param->name); });

TEST_P(EveryTokenizer, RecordIsWhole) {
  const TokenizerKind& kind = *GetParam();
  for (const std::string_view text : {kind.name, kind.formula, kind.cost, kind.summary, kind.file})
    EXPECT_FALSE(text.empty());
  ASSERT_NE(kind.load, nullptr);
  EXPECT_EQ(&find_tokenizer(kind.name), &kind);
}

TEST_P(EveryTokenizer, IdsAreInTheVocabularyAndNamed) {
  const auto tokenizer = small_tokenizer(GetParam()->name);
  EXPECT_EQ(tokenizer->kind(), GetParam()->name);
  ASSERT_GT(tokenizer->vocabulary(), 0);
  for (const std::string& text : nasty_texts()) {
    if (GetParam()->name == "listops") break;
    for (const int32_t id : encoded(*tokenizer, text)) {
      ASSERT_GE(id, 0);
      ASSERT_LT(id, tokenizer->vocabulary());
    }
  }
  for (int32_t id = 0; id < tokenizer->vocabulary(); ++id) {
    const std::string name = tokenizer->piece(id);
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(printable(name, 4096), name);
    EXPECT_NO_THROW(tokenizer->decode({&id, 1}));
  }
  for (const int32_t id : {-1, tokenizer->vocabulary(), INT32_MAX, INT32_MIN}) {
    EXPECT_THROW(tokenizer->decode({&id, 1}), Error);
    EXPECT_THROW(tokenizer->piece(id), Error);
  }
}

TEST_P(EveryTokenizer, EncodeAppends) {
  const auto tokenizer = small_tokenizer(GetParam()->name);
  const std::string text = "[MAX 2 9 ]";
  Ids ids = {7};
  tokenizer->encode(text, ids);
  const Ids alone = encoded(*tokenizer, text);
  ASSERT_EQ(ids.size(), alone.size() + 1);
  EXPECT_EQ(ids[0], 7);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), ids.begin() + 1));
}

TEST_P(EveryTokenizer, GivesEveryTextBackWhereItPromises) {
  if (!GetParam()->reversible) GTEST_SKIP() << "not promised";
  const auto tokenizer = small_tokenizer(GetParam()->name);
  for (const std::string& text : nasty_texts())
    ASSERT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text) << printable(text);
  for (const std::string& text : small_texts(50, 9))
    ASSERT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text);
  // Every character but surrogates, alone and beside others.
  std::string all;
  for (uint32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    append_utf8(c, all);
    if (c % 5 == 0) all += ' ';
  }
  ASSERT_EQ(tokenizer->decode(encoded(*tokenizer, all)), all);
}

TEST_P(EveryTokenizer, LoadedIsTheSame) {
  const auto tokenizer = small_tokenizer(GetParam()->name);
  const std::string content = tokenizer->file();
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("linnet-{}", ::getpid());
  std::filesystem::create_directories(folder);
  save_tokenizer(*small_tokenizer("bytes"), folder);
  save_tokenizer(*tokenizer, folder);  // takes the place of the other
  const auto loaded = load_tokenizer(folder);
  EXPECT_EQ(load_tokenizer(folder / GetParam()->file)->file(), content);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(loaded->file(), content);
  EXPECT_EQ(loaded->kind(), tokenizer->kind());
  EXPECT_EQ(loaded->vocabulary(), tokenizer->vocabulary());
  std::vector<std::string> texts = nasty_texts();
  if (GetParam()->name == "listops") texts = {"( ( [MAX 2 ) 9 ) ]", ""};
  for (const std::string& text : texts)
    ASSERT_EQ(encoded(*loaded, text), encoded(*tokenizer, text)) << printable(text);
  for (int32_t id = 0; id < loaded->vocabulary(); ++id)
    ASSERT_EQ(loaded->piece(id), tokenizer->piece(id));
}

// The heap is in another state each time: an order by addresses would show.
TEST_P(EveryTokenizer, TheSameFileForAnyNumberOfThreads) {
  const std::string first = small_tokenizer(GetParam()->name, 1)->file();
  Random random(11);
  for (const int threads : {1, 2, 3}) {
    std::vector<std::unique_ptr<char[]>> junk;
    for (int i = 0; i < 5000; ++i) junk.push_back(std::make_unique<char[]>(16 + random.below(200)));
    for (auto& part : junk)
      if (random.below(2)) part.reset();
    EXPECT_EQ(small_tokenizer(GetParam()->name, threads)->file(), first) << threads;
  }
}

TEST_P(EveryTokenizer, ManyThreadsMayEncode) {
  const auto tokenizer = small_tokenizer(GetParam()->name);
  const std::string text = GetParam()->name == "listops" ? "[SM 1 2 ]" : small_texts(1, 5)[0];
  const Ids expected = encoded(*tokenizer, text);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) wrong += encoded(*tokenizer, text) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(EveryTokenizer, NothingToLearnFromIsAnError) {
  if (GetParam()->train == nullptr) GTEST_SKIP() << "nothing is learnt";
  const std::vector<std::string> none, empty = {"", ""};
  for (const auto* texts : {&none, &empty}) {
    EXPECT_TRUE(message_of([&] {
                  train_tokenizer(GetParam()->name, source_of(*texts), {});
                }).starts_with("[tokenizer]"));
  }
}

TEST(TokenizerTest, ImpossibleOptionsAreNamed) {
  const std::vector<std::string> texts = small_texts(20);
  const auto train = [&](auto change) {
    TokenizerOptions options;
    change(options);
    return message_of([&] { train_tokenizer("bpe", source_of(texts), options); });
  };
  EXPECT_TRUE(train([](auto& o) { o.vocabulary = 1; }).starts_with("[tokenizer.vocab]"));
  EXPECT_TRUE(
      train([](auto& o) { o.vocabulary = 200; }).starts_with("[tokenizer.vocab] 200 pieces"));
  EXPECT_TRUE(
      train([](auto& o) { o.vocabulary = 260; }).starts_with("[tokenizer.vocab] 260 pieces"));
  EXPECT_TRUE(train([](auto& o) { o.coverage = 0.5; }).starts_with("[tokenizer.coverage]"));
  EXPECT_TRUE(train([](auto& o) { o.min_count = 0; }).starts_with("[tokenizer.min_count]"));
  EXPECT_TRUE(train([](auto& o) { o.buckets = 8192; }).starts_with("[tokenizer.buckets]"));
  EXPECT_NE(message_of([] { find_tokenizer("magic"); }).find("there are: bytes"),
            std::string::npos);
}

TEST(TokenizerTest, SmallTextsGiveFewerPieces) {
  for (const char* kind : {"bpe", "unigram"}) {
    const std::vector<std::string> texts = {"aab aab aab", "aab ab"};
    const auto tokenizer = train_tokenizer(kind, source_of(texts), {});
    EXPECT_LT(tokenizer->vocabulary(), 300);
    EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, "aab cd")), "aab cd");
  }
}

TEST(TokenizerTest, BlanksComeBackWhereNoTextHadOne) {
  for (const char* kind : {"bpe", "unigram"}) {
    const std::vector<std::string> texts(3, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e");
    const auto tokenizer = train_tokenizer(kind, source_of(texts), {});
    for (const char* text :
         {" ", "a b  c", "\xe6\x97\xa5 \xe6\x9c\xac", "\xe2\x96\x81 \xe2\x96\x81"})
      EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text);
  }
}

TEST(TokenizerTest, PiecesAreFoundAndSlicesDoNotShow) {
  for (const char* kind : {"bpe", "unigram"}) {
    const auto tokenizer = small_tokenizer(kind);
    std::string text;
    for (const std::string& part : small_texts(120, 3)) text += " " + part;
    ASSERT_GT(text.size(), 10000u);
    const Ids whole = encoded(*tokenizer, text);
    EXPECT_LT(whole.size(), text.size() / 2) << kind;
    Ids words;
    for (size_t begin = 0; begin < text.size();) {
      const size_t letter = std::min(text.find_first_not_of(' ', begin), text.size());
      const size_t end = std::min(text.find(' ', letter), text.size());
      tokenizer->encode(text.substr(begin, end - begin), words);
      begin = end;
    }
    EXPECT_EQ(whole, words) << kind;
  }
}

TEST(TokenizerTest, CleanPrefixStopsAtWhatSentencePieceChanges) {
  EXPECT_EQ(clean_prefix("abc", 100), 3u);
  EXPECT_EQ(clean_prefix("a\xff", 100), 1u);
  EXPECT_EQ(clean_prefix("\xff", 100), 0u);
  EXPECT_EQ(clean_prefix("ab\tc", 100), 2u);
  EXPECT_EQ(clean_prefix("ab\xe2\x96\x81", 100), 2u);
  EXPECT_EQ(clean_prefix("one two three", 9), 7u);   // before the last word
  EXPECT_EQ(clean_prefix("one two   six", 11), 7u);  // its blanks go with it
  EXPECT_EQ(clean_prefix("abcdef", 4), 4u);
  EXPECT_EQ(clean_prefix("ab\xc3\xa9", 3), 2u);  // not within a character
}

TEST(TokenizerTest, WordCountsForgetTheRarestAndDependOnNoThreads) {
  std::vector<std::string> texts;
  Random random(3);
  for (int i = 0; i < 3000; ++i)
    texts.push_back(" w" + std::to_string(random.below(random.below(900) + 1)));
  const PieceWordLimits limits{.counted = 200, .kept = 50};
  std::vector<std::string> first;
  for (const int threads : {1, 3}) {
    TokenizerOptions options;
    options.threads = threads;
    std::vector<std::string> lines;
    int64_t last = INT64_MAX;
    for (const PieceWord& word : count_piece_words(source_of(texts), limits, options)) {
      EXPECT_LE(word.count, last);
      last = word.count;
      lines.push_back(word.text + " " + std::to_string(word.count));
    }
    EXPECT_EQ(lines.size(), 50u);
    if (first.empty()) first = lines;
    EXPECT_EQ(lines, first);
  }
}

TEST(TokenizerTest, BytesAreIds) {
  const auto tokenizer = train_tokenizer("bytes", nullptr, {});
  EXPECT_EQ(encoded(*tokenizer, "a\xff"), (Ids{97, 255}));
  EXPECT_EQ(tokenizer->piece(10), "\\x0a");
}

TEST(TokenizerTest, ListopsHasTheIdsOfTheTask) {
  const auto tokenizer = train_tokenizer("listops", nullptr, {});
  EXPECT_EQ(encoded(*tokenizer, "( ( ( [MAX 2 ) 9 ) ] )"), (Ids{kListopsMax, 2, 9, kListopsClose}));
  EXPECT_EQ(tokenizer->decode(Ids{kListopsMax, 2, 9, kListopsClose}), "[MAX 2 9 ]");
  EXPECT_TRUE(
      message_of([&] { encoded(*tokenizer, "[MAX 2 x ]"); }).starts_with("[listops column"));
}

TEST(TokenizerTest, CharsAreRankedAndCut) {
  const std::vector<std::string> texts = {"aaab\xc3\xa9", "\xc3\xa9\xff"};
  const auto tokenizer = train_tokenizer("chars", source_of(texts), {});
  EXPECT_EQ(encoded(*tokenizer, "a\xc3\xa9z\xff"), (Ids{1, 2, 0, 0}));
  EXPECT_EQ(tokenizer->decode(Ids{1, 2, 3, 0}),
            "a\xc3\xa9"
            "b\xef\xbf\xbd");
  TokenizerOptions two;
  two.vocabulary = 2;
  EXPECT_EQ(train_tokenizer("chars", source_of(texts), two)->vocabulary(), 2);
}

TEST(TokenizerTest, EveryWordOfALargeVocabularyIsFound) {
  constexpr int kWords = 5000;
  std::vector<std::string> texts;
  std::string all;
  for (int i = 0; i < kWords; ++i) {
    texts.push_back(std::to_string(i) + "x");
    all += texts.back() + " ";
  }
  TokenizerOptions options;
  options.buckets = 7;
  options.min_count = 1;
  const auto tokenizer = train_tokenizer("words", source_of(texts), options);
  const Ids ids = encoded(*tokenizer, all);
  ASSERT_EQ(ids.size(), size_t{kWords});
  for (int i = 0; i < kWords; ++i) {
    EXPECT_LE(ids[static_cast<size_t>(i)], kWords);
    EXPECT_EQ(tokenizer->piece(ids[static_cast<size_t>(i)]), std::to_string(i) + "x");
  }
  for (int i = 0; i < kWords; ++i)
    EXPECT_GT(encoded(*tokenizer, std::to_string(i) + "y").at(0), kWords);
}

TEST(TokenizerTest, WordsAreLoweredInEveryScriptThatTheRuleNames) {
  WordReader reader("LONGWORD NA\u00cfVE \u0416\u0423\u041a A\xff \u00d7 x", {true, false});
  std::vector<std::string> words;
  for (std::string_view word; reader.next(word);) words.emplace_back(word);
  EXPECT_EQ(words, (std::vector<std::string>{"longword", "na\u00efve", "\u0436\u0443\u043a",
                                             "a\xff", "\u00d7", "x"}));
}

TEST(TokenizerTest, WordsAreCutByCountAndTheRestIsHashed) {
  const std::vector<std::string> texts = {"The cat, the dog", "the\tCAT \xff \xff"};
  TokenizerOptions options;
  options.lower_case = true;
  const auto plain = train_tokenizer("words", source_of(texts), options);
  EXPECT_EQ(plain->vocabulary(), 2);  // "the" three times; "cat," and "cat" are two words
  options.split_punctuation = true;
  options.buckets = 5;
  const auto tokenizer = train_tokenizer("words", source_of(texts), options);
  EXPECT_EQ(tokenizer->vocabulary(), 3 + 5);
  EXPECT_EQ(tokenizer->piece(1), "the");
  EXPECT_EQ(tokenizer->piece(2), "cat");
  const Ids ids = encoded(*tokenizer, "THE Cat dog dog bird");
  ASSERT_EQ(ids.size(), 5u);
  EXPECT_EQ(ids[0], 1);
  EXPECT_EQ(ids[1], 2);
  EXPECT_GE(ids[2], 3);
  EXPECT_EQ(ids[2], ids[3]);
  EXPECT_EQ(tokenizer->piece(3), "<bucket 0>");
  EXPECT_EQ(tokenizer->decode(Ids{1, 2, 0, 5}), "the cat \xef\xbf\xbd \xef\xbf\xbd");
}

TEST(TokenizerTest, HostileFilesAreRefusedInOneSentence) {
  const std::string deep(100000, '[');
  for (const std::string& content : std::vector<std::string>{
           "",
           "{",
           "{}",
           "{\"kind\": 3}",
           "{\"kind\": \"magic\"}",
           "{\"kind\": \"bpe\"}",
           "{\"kind\": \"bytes\", \"more\": 1}",
           "{\"kind\": \"chars\"}",
           "{\"kind\": \"bytes\"} x",
           "{\"kind\": \"chars\", \"code_points\": 1}",
           "{\"kind\": \"chars\", \"code_points\": [55296]}",
           "{\"kind\": \"chars\", \"code_points\": [97, 97]}",
           "{\"kind\": \"chars\", \"code_points\": [-1]}",
           "{\"kind\": \"chars\", \"code_points\": [1e99]}",
           "{\"kind\": \"chars\", \"code_points\": [[97]]}",
           "{\"kind\": \"words\", \"lower_case\": 1, \"split_punctuation\": true, \"buckets\": 0, "
           "\"words\": []}",
           "{\"kind\": \"words\", \"lower_case\": true, \"split_punctuation\": true, \"buckets\": "
           "-1, \"words\": []}",
           "{\"kind\": \"words\", \"lower_case\": true, \"split_punctuation\": true, \"buckets\": "
           "18446744073709551615, \"words\": []}",
           "{\"kind\": \"words\", \"lower_case\": true, \"split_punctuation\": true, \"buckets\": "
           "0, \"words\": [\"a\", \"a\"]}",
           "{\"kind\": \"words\", \"lower_case\": true, \"split_punctuation\": true, \"buckets\": "
           "0, \"words\": [\"\"]}",
           "{\"kind\": \"words\", \"lower_case\": true, \"split_punctuation\": true, \"buckets\": "
           "0, \"words\": [1]}",
           "{\"a\": " + deep,
           "{\"kind\": \"\xff\"}",
           "[1]",
           "\n\x7f garbage",
           deep}) {
    const std::string message = message_of([&] { parse_tokenizer(content, "a.file"); });
    EXPECT_TRUE(message.starts_with("[a.file] ")) << printable(content) << ": " << message;
    EXPECT_LT(message.size(), 300u);
  }
  EXPECT_TRUE(message_of([] { load_tokenizer("/no/such/file"); }).starts_with("[/no/such/file]"));
  EXPECT_TRUE(message_of([] { load_tokenizer("/proc"); }).starts_with("[/proc] the folder has"));
}

}  // namespace
}  // namespace linnet
