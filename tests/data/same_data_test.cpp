// same_data_test.cpp -- test data that is the training data or validation under another name is
// refused; what only begins like it is not.
#include "data/same_data.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/data/reading.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

const std::string kTrain = "label,text\na,one\nb,two\n", kOther = "label,text\na,one\nb,three\n";

class SameDataTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    train_ = write("x/train.csv", kTrain);
    test_ = write("x/test.csv", kOther);
    other_ = write("other.csv", "label,text\nb,four\n");
  }
  // "" or the Error.
  std::string fault(const std::string& data, const std::string& validation,
                    const std::string& test) {
    const std::string message = error_of([&] { parts_of(data, validation, test, {}, 0.1); });
    return message == "no Error" ? "" : message;
  }
  // As the test data and as validation.
  void expect_same(const std::string& data, const std::string& again) {
    EXPECT_EQ(fault(data, other_, again),
              "[--test] " + again +
                  " is the training data: what a model has learnt from cannot "
                  "test it");
    EXPECT_EQ(fault(data, "", again), fault(data, other_, again));
    EXPECT_EQ(fault(data, again, other_),
              "[--validation] " + again +
                  " is the training data: a model cannot be chosen by what "
                  "it has learnt from");
    EXPECT_EQ(
        fault(other_, data, again),
        "[--test] " + again + " is validation, too: what a model is chosen by cannot test it");
  }
  std::string train_, test_, other_;
};

TEST_F(SameDataTest, OtherSpellingsOfAPath) {
  expect_same(train_, train_);
  expect_same(train_, path("x/./train.csv"));
  expect_same(train_, path("x/../x//train.csv"));
  expect_same(train_, fs::relative(train_).string());
  fs::create_symlink("train.csv", path("x/linked.csv"));
  expect_same(train_, path("x/linked.csv"));
  fs::create_hard_link(train_, path("hard.csv"));
  expect_same(train_, path("hard.csv"));
}

TEST_F(SameDataTest, Copies) {
  expect_same(train_, write("copy.csv", kTrain));
  expect_same(train_, write("copy.tsv", "a\tone\nb\ttwo\n"));
  expect_same(train_,
              pack("copy.csv.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, {{"data", kTrain}}));
  const std::string tar =
      pack("all.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, {{"d/c.csv", kTrain}});
  expect_same(train_, tar);
  expect_same(train_, tar + "/d/c.csv");
  expect_same(tar + "/d/c.csv", tar);
}

TEST_F(SameDataTest, FoldersWithSplits) {
  EXPECT_EQ(fault(path("x"), other_, ""), "");
  EXPECT_EQ(fault(path("x"), "", test_), "");
  EXPECT_EQ(fault(path("x"), path("x"), ""),
            "[" + path("x") + "] has no validation split among: test.csv, train.csv");
  EXPECT_NE(fault(path("x"), "", train_), "");
  EXPECT_NE(fault(path("x"), test_, ""), "") << "test.csv of the folder";
  EXPECT_NE(fault(path("x"), test_, path("x/../x")), "");
  write("x/valid.csv", kOther);
  EXPECT_EQ(fault(path("x"), "", ""),
            "[--test] " + path("x") +
                " is validation, too: what a model is chosen by cannot test "
                "it");
  for (const char* file :
       {"train/neg/0_1.txt", "train/pos/0_9.txt", "test/neg/0_1.txt", "test/pos/0_9.txt"})
    write(std::string("reviews/") + file, file);
  EXPECT_EQ(fault(path("reviews"), "", ""), "");
  EXPECT_EQ(fault(path("reviews"), "", path("reviews/test")), "");
  EXPECT_NE(fault(path("reviews"), "", path("reviews/train")), "");
}

TEST_F(SameDataTest, WhatDiffersIsTaken) {
  EXPECT_EQ(fault(train_, "", test_), "");
  EXPECT_EQ(fault(train_, "", write("more.csv", kTrain + "a,five\n")), "");
  EXPECT_EQ(fault(train_, "", write("labels.csv", "label,text\nb,one\na,two\n")), "");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(fault(train_, "", path("pipe")), "") << "a pipe is read once, when it is needed";
}

}  // namespace
}  // namespace linnet
