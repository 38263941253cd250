// log_file_test.cpp -- records appended, cut back, and none by halves on a full disk.
#include "core/log_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "core/error.h"
#include "core/file.h"
#include "core/folder_lock.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

class LogFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string content() const { return read_file(path_, 1 << 20); }

  fs::path folder_ = fs::path(testing::TempDir()) / ("linnet_log_" + std::to_string(::getpid()));
  fs::path path_ = folder_ / "log";
};

TEST_F(LogFileTest, AppendsAndCuts) {
  {
    LogFile log(path_);
    log.append("one\n");
    EXPECT_EQ(content(), "one\n");  // at once
    log.append("");
    log.append("two\n");
    log.sync();
    EXPECT_EQ(log.size(), 8);
  }
  EXPECT_EQ(LogFile(path_).size(), 8);
  EXPECT_EQ(LogFile(path_, 100).size(), 8);
  LogFile log(path_, 4);
  log.append("three\n");
  EXPECT_EQ(content(), "one\nthree\n");
  EXPECT_EQ(log.size(), 10);
}

TEST_F(LogFileTest, AFullDiskLeavesWholeRecords) {
  LogFile log(path_);
  log.append("whole\n");
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string found;
  try {
    log.append("too much\n");
  } catch (const Error& error) {
    found = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(found, "[" + path_.string() + "] cannot write: File too large");
  EXPECT_EQ(content(), "whole\n");
  log.append("again\n");
  EXPECT_EQ(content(), "whole\nagain\n");
}

TEST_F(LogFileTest, AFileThatIsGoneIsSaid) {
  LogFile log(path_);
  log.append("one\n");
  log.sync();
  fs::rename(path_, folder_ / "away");
  EXPECT_THROW(log.sync(), Error);
  write_file(path_, "other");
  EXPECT_THROW(log.sync(), Error);
  EXPECT_EQ(content(), "other");
}

TEST_F(LogFileTest, NoSuchFolder) { EXPECT_THROW(LogFile(folder_ / "none" / "log"), Error); }

TEST_F(LogFileTest, TheLockRemovesWhatAKilledWriterLeft) {
  write_file(folder_ / ".linnet-1-0.tmp", "half");
  write_file(folder_ / ".linnet.json", "other");
  const FolderLock lock(folder_);
  EXPECT_FALSE(fs::exists(folder_ / ".linnet-1-0.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / ".linnet.json"));
}

}  // namespace
}  // namespace linnet
