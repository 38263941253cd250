// sources_test.cpp -- packed files, archives, folders: the same records from all of them; broken
// ones are sentences.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "data/archive.h"
#include "data/formats.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

const std::string kCsv = "label,text\na,\"one\ntwo\"\nb,three\n";

class SourcesTest : public FolderTest {
 protected:
  void expect_rows(const std::string& path, const ReadOptions& options = {}) {
    const auto rows = read_rows(path, options);
    ASSERT_EQ(rows.size(), 2u) << path;
    EXPECT_EQ(rows[0].text, "one\ntwo") << path;
    EXPECT_EQ(rows[1].labels, std::vector<std::string>{"b"}) << path;
  }
};

TEST_F(SourcesTest, PackedFiles) {
  const std::vector<std::pair<std::string, int>> kinds = {{"gz", ARCHIVE_FILTER_GZIP},
                                                          {"bz2", ARCHIVE_FILTER_BZIP2},
                                                          {"xz", ARCHIVE_FILTER_XZ},
                                                          {"zst", ARCHIVE_FILTER_ZSTD},
                                                          {"lz4", ARCHIVE_FILTER_LZ4}};
  for (const auto& [end, filter] : kinds) {
    const std::string file = pack("t.csv." + end, ARCHIVE_FORMAT_RAW, filter, {{"data", kCsv}});
    expect_rows(file);
    EXPECT_NE(read_rows(file)[1].place.find("t.csv." + end + ":4:1"), std::string::npos);
    // Seen by its bytes, not by its name.
    std::filesystem::copy_file(file, path("renamed_" + end + ".csv"));
    expect_rows(path("renamed_" + end + ".csv"));
  }
  expect_rows(write("plain.csv", kCsv));
}

TEST_F(SourcesTest, ConcatenatedStreamsAreOneFile) {
  std::string both;
  for (const char* part : {"label,text\na,\"one\n", "two\"\nb,three\n"}) {
    std::ifstream file(pack("part.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, {{"data", part}}),
                       std::ios::binary);
    both.append(std::istreambuf_iterator<char>(file), {});
  }
  expect_rows(write("both.csv.gz", both));
}

TEST_F(SourcesTest, ArchivesOfOneFileAreThatFile) {
  expect_rows(pack("one.tar", ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FILTER_NONE,
                   {{"folder/", ""}, {"folder/t.csv", kCsv}}));
  expect_rows(pack("one.tar.xz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ,
                   {{"./t.csv", kCsv}, {"./.hidden", "x"}}));
  expect_rows(pack("one.zip", ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE,
                   {{"t.csv", kCsv}, {"__MACOSX/t.csv", "x"}}));
  const std::string tgz = pack("t\xc3\xa4.tgz", ARCHIVE_FORMAT_TAR_PAX_RESTRICTED,
                               ARCHIVE_FILTER_GZIP, {{"\xc3\xa4/\xc3\xb6.csv", kCsv}});
  expect_rows(tgz);
}

TEST_F(SourcesTest, AnArchiveIsAFolder) {
  const std::string tar =
      pack("all.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP,
           {{"data/other.txt", "x"}, {"data/train.csv", kCsv}, {"data/test.csv", kCsv}});
  expect_rows(tar);
  expect_rows(tar + "/data/test.csv");
  expect_rows(tar + "/data");
  EXPECT_EQ(splits_of(tar, {}), (std::vector<std::string>{"train", "test"}));
  EXPECT_NE(read_rows(tar)[1].place.find("all.tar.gz/data/train.csv:4:1"), std::string::npos);
  const std::string message = error_of([&] { read_rows(tar + "/data/none.csv"); });
  EXPECT_NE(message.find("all.tar.gz] has no file data/none.csv"), std::string::npos) << message;
}

TEST_F(SourcesTest, AFolderOfSplits) {
  write("set/Train.csv", kCsv);
  write("set/my_dev.csv", kCsv);
  write("set/notes.md", "x");
  write("set/sub/test.csv", kCsv);
  EXPECT_EQ(splits_of(path("set"), {}), (std::vector<std::string>{"train", "validation"}));
  expect_rows(path("set"));
  expect_rows(path("set/"));
  ReadOptions options;
  options.split = "validation";
  expect_rows(path("set"), options);
  options.split = "test";
  EXPECT_NE(error_of([&] { read_rows(path("set"), options); }).find("has no test split among"),
            std::string::npos);
  write("set/train_2.csv", kCsv);
  EXPECT_NE(error_of([&] { read_rows(path("set")); }).find("several files of the train split"),
            std::string::npos);
}

TEST_F(SourcesTest, AFolderOfTextsIsOneCorpus) {
  write("corpus/b.txt", "second\n");
  write("corpus/a.txt", "first\n");
  write("corpus/empty.txt", "");
  const auto rows = read_rows(path("corpus"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "first\n");
  EXPECT_FALSE(rows[0].continues);
  EXPECT_NE(rows[1].place.find("corpus/b.txt:1:1"), std::string::npos);
}

TEST_F(SourcesTest, ANamedPipeIsReadOnce) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe")) << kCsv; });
  EXPECT_TRUE(splits_of(path("pipe"), {}).empty());
  expect_rows(path("pipe"));
  writer.join();
}

TEST_F(SourcesTest, BrokenAndMissingFiles) {
  const std::string whole =
      pack("t.csv.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, {{"data", kCsv}});
  std::filesystem::resize_file(whole, std::filesystem::file_size(whole) - 12);
  std::string message = error_of([&] { read_rows(whole); });
  EXPECT_NE(message.find("t.csv.gz] cannot unpack: "), std::string::npos) << message;
  message = error_of([&] { read_rows(path("none.csv")); });
  EXPECT_NE(message.find("none.csv] cannot open: No such file"), std::string::npos) << message;
  message = error_of([&] { read_rows(write("broken.tar", "this is no tar at all")); });
  EXPECT_NE(message.find("broken.tar] cannot unpack: "), std::string::npos) << message;
  std::filesystem::create_directory(path("nothing"));
  message = error_of([&] { read_rows(path("nothing")); });
  EXPECT_NE(message.find("nothing] has no files"), std::string::npos) << message;
  message = error_of([&] { open_bytes(path("nothing")); });
  EXPECT_NE(message.find("is a folder"), std::string::npos) << message;
  write("odd/data.dat", "x");
  message = error_of([&] { read_rows(path("odd")); });
  EXPECT_NE(message.find("is no layout that linnet knows"), std::string::npos) << message;
  message = error_of([&] { read_rows(write("empty.csv.gz", "")); });
  EXPECT_NE(message.find("empty.csv.gz] has no records"), std::string::npos) << message;
  ReadOptions folders;
  folders.format = "aclimdb";
  message = error_of([&] { read_rows(write("t.csv", kCsv), folders); });
  EXPECT_NE(message.find("format aclimdb is a folder"), std::string::npos) << message;
}

TEST(Archives, AreKnownByTheirNames) {
  for (const char* name : {"a.tar", "a.tar.gz", "a.TGZ", "x/a.tar.zst", "a.zip"})
    EXPECT_TRUE(is_archive_name(name)) << name;
  for (const char* name : {"a.gz", "tar", "a.tar.csv", "a.zip/b"})
    EXPECT_FALSE(is_archive_name(name)) << name;
}

TEST(Splits, AreWordsInNames) {
  EXPECT_EQ(split_of_name("basic_train.tsv"), "train");
  EXPECT_EQ(split_of_name("basic_val.tsv"), "validation");
  EXPECT_EQ(split_of_name("new_aan_pairs.eval.tsv"), "validation");
  EXPECT_EQ(split_of_name("TEST.csv"), "test");
  EXPECT_EQ(split_of_name("unsup.tsv.xz"), "unlabelled");
  EXPECT_EQ(split_of_name("contest.csv"), "");
  EXPECT_EQ(split_of_name("trained_words.csv"), "");
  EXPECT_EQ(split_of_name("test2.csv"), "test");
}

}  // namespace
}  // namespace linnet
