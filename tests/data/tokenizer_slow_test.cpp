// tokenizer_slow_test.cpp -- pieces learnt from the IMDb reviews give all 25,000 test reviews back.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "core/context.h"
#include "data/tokenizer.h"
#include "tests/data/small_texts.h"

namespace linnet {
namespace {

// The texts of imdb/NAME.tsv.xz: the fourth field of a line, with the escapes of its README.
std::vector<std::string> reviews(const char* name) {
  const char* folder = std::getenv("LINNET_DATA");
  std::vector<std::string> texts;
  if (folder == nullptr) return texts;
  const auto file = std::filesystem::path(folder) / "imdb" / (std::string(name) + ".tsv.xz");
  if (!std::filesystem::exists(file)) return texts;
  std::FILE* pipe = popen(("xz -dc '" + file.string() + "'").c_str(), "r");
  int fields = 0;
  bool escaped = false;
  for (int c; (c = std::fgetc(pipe)) != EOF;) {
    if (fields < 3) {
      fields += c == '\t';
      if (fields == 3) texts.emplace_back();
    } else if (escaped) {
      texts.back() += static_cast<char>(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c);
      escaped = false;
    } else if (c == '\\') {
      escaped = true;
    } else if (c == '\n') {
      fields = 0;
    } else {
      texts.back() += static_cast<char>(c);
    }
  }
  EXPECT_EQ(pclose(pipe), 0);
  return texts;
}

TEST(TokenizerSlowTest, ImdbComesBackByteForByte) {
  const std::vector<std::string> train = reviews("train"), test = reviews("test");
  if (train.empty()) GTEST_SKIP() << "LINNET_DATA is not set, or has no imdb";
  ASSERT_EQ(train.size(), 25000u);
  ASSERT_EQ(test.size(), 25000u);
  Context context;
  for (const char* kind : {"bpe", "unigram"}) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto tokenizer = train_tokenizer(kind, source_of(train), {});
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    EXPECT_EQ(tokenizer->vocabulary(), 8192);
    EXPECT_EQ(parse_tokenizer(tokenizer->file(), kind)->file(), tokenizer->file());
    std::atomic<int64_t> wrong = 0, tokens = 0, bytes = 0;
    const auto encoding = Clock::now();
    context.parallel(25000, [&](int64_t row, int) {
      const std::string& text = test[static_cast<size_t>(row)];
      std::vector<int32_t> ids;
      tokenizer->encode(text, ids);
      wrong += tokenizer->decode(ids) != text;
      tokens += static_cast<int64_t>(ids.size());
      bytes += static_cast<int64_t>(text.size());
    });
    EXPECT_EQ(wrong, 0) << kind;
    const double share = static_cast<double>(bytes) / static_cast<double>(tokens);
    std::printf("%s: learnt in %.1f s, %.2f bytes a token, %.1f s to encode and decode\n", kind,
                seconds, share, std::chrono::duration<double>(Clock::now() - encoding).count());
    EXPECT_GT(share, 3.5) << kind;
    EXPECT_LT(seconds, 300) << kind;  // 20 to 60 s on two cores; the aim is 90
  }
}

}  // namespace
}  // namespace linnet
