// layouts_test.cpp -- public layouts, as small copies of them: IMDb, LRA, citation pairs, CIFAR-10,
// Pathfinder.
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>

#include "data/formats.h"
#include "data/png.h"
#include "tests/data/reading.h"

namespace linnet {
namespace {

using Labels = std::vector<std::string>;

class LayoutsTest : public FolderTest {};

const std::vector<std::pair<std::string, std::string>> kReviews = {
    {"aclImdb/README", "x"},
    {"aclImdb/train/pos/10_9.txt", "good\nfilm"},
    {"aclImdb/train/pos/2_7.txt", "fine"},
    {"aclImdb/train/neg/0_1.txt", "bad"},
    {"aclImdb/train/unsup/0_0.txt", "who knows"},
    {"aclImdb/train/urls_pos.txt", "http"},
    {"aclImdb/test/neg/0_2.txt", "worse"},
    {"aclImdb/test/pos/0_10.txt", "best"}};

TEST_F(LayoutsTest, AclImdbFolder) {
  for (const auto& [name, bytes] : kReviews) write(name, bytes);
  const std::string folder = path("aclImdb");
  EXPECT_EQ(splits_of(folder, {}), (Labels{"train", "test", "unlabelled"}));
  auto rows = read_rows(folder);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].text, "bad");
  EXPECT_EQ(rows[0].labels, Labels{"neg"});
  EXPECT_EQ(rows[1].text, "fine");  // pos by id: 2 before 10
  EXPECT_EQ(rows[2].text, "good\nfilm");
  EXPECT_NE(rows[2].place.find("aclImdb/train/pos/10_9.txt:1:1"), std::string::npos);
  ReadOptions options;
  options.split = "unlabelled";
  rows = read_rows(folder, options);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].labels.empty());
  EXPECT_EQ(read_rows(folder + "/test")[1].text, "best");  // a folder of one split
  options.split = "validation";
  EXPECT_NE(
      error_of([&] { read_rows(folder, options); }).find("no reviews of the split validation"),
      std::string::npos);
}

TEST_F(LayoutsTest, AclImdbTarIsTheSame) {
  const std::string tar =
      pack("aclImdb_v1.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, kReviews);
  EXPECT_EQ(splits_of(tar, {}), (Labels{"train", "test", "unlabelled"}));
  auto rows = read_rows(tar);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].text, "good\nfilm");  // the order of the tar
  EXPECT_EQ(rows[2].labels, Labels{"neg"});
  ReadOptions options;
  options.split = "test";
  EXPECT_EQ(read_rows(tar, options).size(), 2u);
  EXPECT_EQ(read_rows(tar + "/aclImdb/test").size(), 2u);
}

TEST_F(LayoutsTest, ImdbTsv) {
  const auto rows =
      rows_of("train.tsv", "0\t3\t1\tbad\\n\\\\film\n1\t7\t10\tgood\\tone\n-1\t0\t0\twho\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].text, "bad\n\\film");
  EXPECT_EQ(rows[0].labels, Labels{"neg"});
  EXPECT_EQ(rows[1].labels, Labels{"pos"});
  EXPECT_TRUE(rows[2].labels.empty());
}

TEST_F(LayoutsTest, LraListops) {
  const auto rows = rows_of("basic_val.tsv",
                            "Source\tTarget\r\n( ( ( [MAX 2 ) 9 ) ] )\t9\r\n5\t5\r\n"
                            "( ( ( [MIN ( ( ( [SM 1 ) 2 ) ] ) ) 4 ) ] )\t3\r\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].text, "[MAX 2 9 ]");
  EXPECT_EQ(rows[0].labels, Labels{"9"});
  EXPECT_EQ(rows[1].text, "5");
  EXPECT_EQ(rows[2].text, "[MIN [SM 1 2 ] 4 ]");
  EXPECT_NE(error_of_bytes("basic_val.tsv", "Source\tTarget\n5\n").find(":2:1]"),
            std::string::npos);
}

TEST_F(LayoutsTest, LraAan) {
  const auto rows =
      rows_of("new_aan_pairs.train.tsv", "1.0\tA1\tB2\tfirst \"text\\n\tsecond\n0.0\tC\tD\tx\t\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].labels, Labels{"1"});
  EXPECT_EQ(rows[0].text, "first \"text\\n");
  EXPECT_EQ(rows[0].second, "second");
  EXPECT_EQ(rows[1].labels, Labels{"0"});
  EXPECT_EQ(rows_of("new_aan_pairs.train.tsv", ".0\tA\tB\tx\ty\n")[0].labels,
            (std::vector<std::string>{".0"}));
  EXPECT_EQ(error_of_bytes("new_aan_pairs.test.tsv", "1.0\tA\tB\tx\n"),
            "[new_aan_pairs.test.tsv:1:9] this row has 4 fields, not 5 as the first row");
}

TEST_F(LayoutsTest, CitationPairs) {
  write("cite/docs.tsv", "a\t1999\tfirst\\ntext\nb\t2000\tsecond\nc\t2001\tthird\n");
  write("cite/pairs.train.tsv", "1\ta\tb\n0\ta\tc\n");
  write("cite/pairs.eval.tsv", "1\tb\ta\n");
  EXPECT_EQ(splits_of(path("cite"), {}), (Labels{"train", "validation"}));
  auto rows = read_rows(path("cite"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "first\ntext");
  EXPECT_EQ(rows[1].second, "third");
  EXPECT_EQ(rows[1].labels, Labels{"0"});
  ReadOptions options;
  options.split = "validation";
  EXPECT_EQ(read_rows(path("cite"), options)[0].text, "second");
  EXPECT_EQ(read_rows(path("cite/pairs.eval.tsv"))[0].text, "second");
  options.split = "test";
  EXPECT_NE(error_of([&] { read_rows(path("cite"), options); }).find("no pairs of the split test"),
            std::string::npos);
  write("cite/pairs.train.tsv", "1\ta\tb\n0\ta\tnobody\n");
  const std::string unknown = error_of([&] { read_rows(path("cite")); });
  EXPECT_NE(unknown.find("pairs.train.tsv:2:5] no document nobody in "), std::string::npos)
      << unknown;
  write("cite/docs.tsv", "a\t1999\tx\na\t1999\ty\n");
  EXPECT_NE(error_of([&] { read_rows(path("cite")); }).find("docs.tsv:2:1] a second document"),
            std::string::npos);
}

std::string cifar_record(size_t bytes, int label, int seed) {
  std::string record(1, static_cast<char>(label));
  for (size_t i = 0; i < bytes; ++i)
    record += static_cast<char>((i * 37 + size_t(seed) * 101) % 256);
  return record;
}

TEST_F(LayoutsTest, Cifar10GreyAndColour) {
  const std::string grey = cifar_record(1024, 3, 1) + cifar_record(1024, 9, 2);
  auto rows = rows_of("train.gray.bin", grey);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].labels, Labels{"cat"});
  EXPECT_EQ(rows[1].text, grey.substr(1026));
  EXPECT_EQ(rows[1].place, "train.gray.bin:2:1");

  const std::string colour = cifar_record(3072, 0, 3) + cifar_record(3072, 7, 4);
  rows = rows_of("data_batch_1.bin", colour);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].labels, Labels{"horse"});
  for (size_t i = 0; i < 1024; ++i) {
    const auto channel = [&](size_t plane) {
      return static_cast<unsigned char>(colour[3074 + plane * 1024 + i]);
    };
    const double y = 0.2989 * channel(0) + 0.5870 * channel(1) + 0.1140 * channel(2);
    ASSERT_NEAR(static_cast<unsigned char>(rows[1].text[i]), std::floor(255.5 * y / 255), 1) << i;
  }
  EXPECT_NE(error_of_bytes("data_batch_1.bin", colour.substr(0, 4000)).find("no CIFAR-10 batch"),
            std::string::npos);
  std::string many;
  for (int i = 0; i < 100; ++i) many += cifar_record(1024, i % 10, i);
  EXPECT_EQ(error_of_bytes("x.bin", many.substr(0, many.size() - 5)),
            "[x.bin:100:1] the last record has 1020 bytes, not 1025");
  many[90 * 1025] = 77;
  EXPECT_EQ(error_of_bytes("x.bin", many), "[x.bin:91:1] class 77 is not in 0 to 9");
}

TEST_F(LayoutsTest, Cifar10FolderAndTar) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const int batch : {3, 1, 2}) {
    files.emplace_back("cifar-10-batches-bin/data_batch_" + std::to_string(batch) + ".bin",
                       cifar_record(3072, batch, batch));
  }
  files.emplace_back("cifar-10-batches-bin/test_batch.bin", cifar_record(3072, 9, 5));
  files.emplace_back("cifar-10-batches-bin/readme.html", "x");
  for (const auto& [name, bytes] : files) write(name, bytes);
  const std::string tar =
      pack("cifar-10-binary.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, files);
  for (const std::string& where : {path("cifar-10-batches-bin"), tar}) {
    EXPECT_EQ(splits_of(where, {}), (Labels{"train", "test"}));
    const auto rows = read_rows(where);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].labels, Labels{"automobile"});
    EXPECT_EQ(rows[2].labels, Labels{"cat"});
    ReadOptions options;
    options.split = "test";
    EXPECT_EQ(read_rows(where, options)[0].labels, Labels{"truck"});
  }
}

std::string png_of(const std::string& pixels, uint32_t side, uint32_t format = PNG_FORMAT_GRAY) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = side;
  image.format = format;
  std::string file(1 << 16, '\0');
  png_alloc_size_t size = file.size();
  EXPECT_NE(png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr), 0);
  file.resize(size);
  return file;
}

TEST_F(LayoutsTest, Pathfinder) {
  const std::string first(32 * 32, 'a');
  std::string second;
  for (int i = 0; i < 32 * 32; ++i) second += static_cast<char>(i % 251);
  write("curv/imgs/0/sample_0.png", png_of(first, 32));
  write("curv/imgs/1/sample_0.png", png_of(second, 32));
  write("curv/imgs/1/sample_1.png", "");
  write("curv/metadata/10.npy", "imgs/1 sample_0.png 0 1 1.8 6\nimgs/1 sample_1.png 1 1 1.8 6\n");
  write("curv/metadata/2.npy", "imgs/0 sample_0.png 0 0 1.8 6\n");
  const auto rows = read_rows(path("curv"));
  ASSERT_EQ(rows.size(), 2u);  // the empty image is left out, as LRA does
  EXPECT_EQ(rows[0].text, first);
  EXPECT_EQ(rows[0].labels, Labels{"0"});
  EXPECT_EQ(rows[1].text, second);
  EXPECT_NE(rows[1].place.find("curv/metadata/10.npy:1:23"), std::string::npos) << rows[1].place;
  write("curv/metadata/3.npy", "imgs/0 sample_0.png 0\n");
  EXPECT_NE(error_of([&] { read_rows(path("curv")); }).find("3.npy:1:"), std::string::npos);
  write("curv/metadata/3.npy", "../../etc passwd 0 1\n");
  EXPECT_NE(error_of([&] { read_rows(path("curv")); }).find("3.npy:1:1] no image"),
            std::string::npos);
  write("curv/metadata/3.npy", "\x93NUMPY\x01");
  EXPECT_NE(error_of([&] { read_rows(path("curv")); }).find("is a NumPy array"), std::string::npos);
  write("curv/metadata/3.npy", "");
  write("curv/imgs/0/sample_0.png", png_of(first, 32).substr(0, 60));
  EXPECT_NE(error_of([&] { read_rows(path("curv")); }).find("sample_0.png] is a broken PNG"),
            std::string::npos);
  write("curv/imgs/0/sample_0.png", "GIF89a");
  EXPECT_NE(error_of([&] { read_rows(path("curv")); }).find("sample_0.png] is no PNG"),
            std::string::npos);
}

TEST_F(LayoutsTest, PathfinderInATarIsRefused) {
  const std::string tar = pack("curv.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE,
                               {{"metadata/0.npy", "imgs/0 a.png 0 1\n"}, {"imgs/0/a.png", ""}});
  EXPECT_NE(error_of([&] { read_rows(tar); }).find("unpack it first"), std::string::npos);
}

TEST(Png, GreyIsKeptAndColourBecomesGrey) {
  std::string grey, pixels;
  for (int i = 0; i < 256; ++i) grey += static_cast<char>(i);
  EXPECT_EQ(decode_png(png_of(grey, 16), "x.png", pixels), 16u);
  EXPECT_EQ(pixels, grey);
  std::string colour;
  for (int i = 0; i < 256; ++i) colour += std::string(3, static_cast<char>(i));
  decode_png(png_of(colour, 16, PNG_FORMAT_RGB), "x.png", pixels);
  EXPECT_EQ(pixels, grey);
}

}  // namespace
}  // namespace linnet
