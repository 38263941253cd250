// folder_test.cpp -- only folders that linnet made and marked are removed; locks come and go.
#include "core/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/folder_lock.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_ = fs::path(testing::TempDir()) / ("linnet_folder_" + std::to_string(::getpid()));
};

TEST_F(FolderTest, OnlyWhatLinnetMadeIsRemoved) {
  const fs::path own = root_ / "above" / "own", other = root_ / "other";
  make_own_folder(own);
  EXPECT_TRUE(is_own_folder(own));
  EXPECT_FALSE(is_own_folder(own.parent_path()));
  fs::create_directories(own / "deep" / "deeper");
  write_file(own / "deep" / "file", "x");
  fs::create_directory(other);
  write_file(other / "precious", "x");
  make_own_folder(other);  // it was there before
  fs::create_directory_symlink(other, own / "link");
  fs::create_directory_symlink(own, root_ / "link_to_own");

  EXPECT_FALSE(remove_own_folder(other));
  EXPECT_FALSE(remove_own_folder(root_ / "link_to_own"));
  EXPECT_FALSE(remove_own_folder(other / "precious"));
  EXPECT_TRUE(fs::exists(own / "deep" / "file"));
  EXPECT_TRUE(remove_own_folder(own));
  EXPECT_FALSE(fs::exists(own));
  EXPECT_TRUE(fs::exists(other / "precious"));
  EXPECT_TRUE(remove_own_folder(own));  // nothing is as good as removed
  // A mark that is a link, or another text, is none.
  write_file(root_ / ".linnet", "mine");
  EXPECT_FALSE(remove_own_folder(root_));
  make_own_folder(own);
  fs::rename(own / ".linnet", root_ / "mark");
  fs::create_symlink(root_ / "mark", own / ".linnet");
  EXPECT_FALSE(remove_own_folder(own));
}

TEST_F(FolderTest, WhatKillsLeaveIsRemovedAndNothingElse) {
  const fs::path precious = root_ / temporary_name(0) / "precious",
                 half = root_ / temporary_name(1);
  for (const fs::path& folder : {precious.parent_path(), half, root_ / "away"})
    fs::create_directory(folder);
  write_file(precious, "x");
  write_file(half / temporary_name(0), "linnet made");
  write_file(root_ / temporary_name(2), "x");
  make_own_folder(root_ / temporary_name(3));
  write_file(root_ / temporary_name(3) / "file", "x");
  write_file(root_ / "away" / temporary_name(0), "x");
  fs::create_directory_symlink(root_ / "away", root_ / temporary_name(4));
  remove_temporaries(root_);
  EXPECT_TRUE(fs::exists(precious));
  EXPECT_TRUE(fs::exists(root_ / "away" / temporary_name(0)));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 2);  // `precious` and `away`
}

TEST_F(FolderTest, FoldersThatCannotBeMadeLeaveNothing) {
  write_file(root_ / "file", "x");
  EXPECT_THROW(make_folders(root_ / "file"), Error);
  EXPECT_THROW(make_folders(root_ / "file" / "below"), Error);
  EXPECT_THROW(make_folders(root_ / "a" / std::string(300, 'b')), Error);
  EXPECT_FALSE(fs::exists(root_ / "a"));
  EXPECT_THROW(make_folders(""), Error);
  EXPECT_EQ(make_folders(root_ / "a" / "b" / "").size(), 2u);
  EXPECT_TRUE(make_folders(root_ / "a" / "b").empty());
}

TEST_F(FolderTest, FileNamesLeadNowhere) {
  for (const char* name : {"a", "2xoglu", "linear-kernel", "a.b_c", "...", "A9"})
    EXPECT_TRUE(is_file_name(name)) << name;
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a b"),
        std::string("a\0b", 3), std::string("\xc3\xa4"), std::string(61, 'a')})
    EXPECT_FALSE(is_file_name(name)) << name;
}

TEST_F(FolderTest, ATemporaryFolderIsPrivateAndGoes) {
  const char* before = std::getenv("TMPDIR");
  const std::string old = before ? before : "";
  ::setenv("TMPDIR", root_.c_str(), 1);
  fs::path place;
  {
    const TemporaryFolder folder;
    place = folder.path();
    EXPECT_EQ(place.parent_path(), root_);
    EXPECT_EQ(fs::status(place).permissions(), fs::perms(0700));
    write_file(place / "file", "x");
  }
  EXPECT_FALSE(fs::exists(place));
  for (const char* wrong : {"none", "file"}) {
    write_file(root_ / "file", "x");
    ::setenv("TMPDIR", (root_ / wrong).c_str(), 1);
    try {
      const TemporaryFolder folder;
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("[TMPDIR] ")) << error.what();
    }
  }
  before ? ::setenv("TMPDIR", old.c_str(), 1) : ::unsetenv("TMPDIR");
}

TEST_F(FolderTest, ALockLeavesNothingOfItsOwn) {
  const fs::path folder = root_ / "a" / "b";
  { const FolderLock lock(folder); }
  EXPECT_FALSE(fs::exists(root_ / "a"));
  {
    const FolderLock lock(folder);
    EXPECT_THROW(FolderLock{folder}, Error);
    write_file(folder / "file", "x");
  }
  EXPECT_FALSE(fs::exists(folder / ".lock"));
  EXPECT_TRUE(fs::exists(folder / "file"));
  { const FolderLock lock(root_); }
  EXPECT_TRUE(fs::exists(root_));  // it did not make it
  // What others call so stays: a file with content, and what a link leads to.
  write_file(root_ / ".lock", "mine");
  { const FolderLock lock(root_); }
  EXPECT_EQ(read_file(root_ / ".lock", 10), "mine");
  fs::remove(root_ / ".lock");
  fs::create_symlink(folder / "file", root_ / ".lock");
  EXPECT_THROW(FolderLock{root_}, Error);
  EXPECT_EQ(read_file(folder / "file", 10), "x");
}

// Holders remove the file while others open it: at no time are there two of them.
TEST_F(FolderTest, OneHolderAtATime) {
  std::vector<std::thread> threads;
  std::atomic<int> inside = 0, most = 0, turns = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 500; ++turn) {
        std::optional<FolderLock> lock;
        try {
          lock.emplace(root_);
        } catch (const Error&) {
          continue;
        }
        const int now = ++inside;
        most = std::max(most.load(), now);
        ++turns;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(turns, 0);
}

}  // namespace
}  // namespace linnet
