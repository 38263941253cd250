// file_test.cpp -- reading and mapping; writing that keeps the old file whatever fails.
#include "core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "core/error.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "linnet_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::permissions(folder_, fs::perms(0755));
  }
  void TearDown() override { fs::remove_all(folder_); }

  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no Error";
}

void expect_message(const std::function<void()>& action, const fs::path& place,
                    std::string_view part) {
  const std::string found = message(action);
  EXPECT_TRUE(found.starts_with("[" + place.string() + "] ")) << found;
  EXPECT_NE(found.find(part), std::string::npos) << found;
}

// While it lives, no file of this process can grow beyond `bytes`: the nearest thing to a full disk
// that needs no mount.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_ = {};
  void (*handler_)(int);
};

TEST_F(FileTest, WriteThenReadAndMap) {
  const fs::path path = folder_ / "a";
  const std::string content = std::string("x\0y\n", 4) + std::string(100'000, 'z');
  write_file(path, content);
  EXPECT_EQ(read_file(path, content.size()), content);
  MappedFile map(path);
  const MappedFile moved = std::move(map);
  ASSERT_EQ(moved.bytes().size(), content.size());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(moved.bytes().data()), content.size()),
            content);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, EmptyFileAndNoParts) {
  const fs::path path = folder_ / "empty";
  write_file(path, std::span<const std::span<const std::byte>>());
  EXPECT_EQ(read_file(path, 0), "");
  EXPECT_TRUE(MappedFile(path).bytes().empty());
}

TEST_F(FileTest, PartsAreJoined) {
  const std::string first = "ab", second, third = "c";
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(first)),
                                              std::as_bytes(std::span(second)),
                                              std::as_bytes(std::span(third))};
  write_file(folder_ / "parts", parts);
  EXPECT_EQ(read_file(folder_ / "parts", 10), "abc");
}

TEST_F(FileTest, ReadRefusesMoreThanTheLimit) {
  const fs::path path = folder_ / "a";
  write_file(path, "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  expect_message([&] { read_file(path, 4); }, path, "larger than 4 bytes");
}

// Of devices nothing is read; a pipe without a writer would be waited for.
TEST_F(FileTest, ReadRefusesWhatIsNoRegularFile) {
  const fs::path pipe = folder_ / "pipe", loop = folder_ / "loop";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("loop", loop);
  expect_message([&] { read_file(pipe, 10); }, pipe, "is not a regular file");
  expect_message([&] { read_file(loop, 10); }, loop, "Too many levels of symbolic links");
  for (const Pipe pipes : {Pipe::refused, Pipe::read}) {
    expect_message([&] { read_file("/dev/zero", 10'000, pipes); }, "/dev/zero", "not a regular");
    expect_message([&] { read_file(folder_, 10, pipes); }, folder_, "is not a regular file");
  }
}

TEST_F(FileTest, ReadTakesAPipeWhereOneIsMeant) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string content(50'000, 'p');
  std::thread writer([&] { std::ofstream(path) << content; });
  EXPECT_EQ(read_file(path, 50'000, Pipe::read), content);
  writer.join();
  expect_message([&] { MappedFile map(path); }, path, "not a regular file");
}

TEST_F(FileTest, MissingFileAndFolder) {
  const fs::path path = folder_ / "no" / "file";
  expect_message([&] { read_file(path, 1); }, path, "No such file or directory");
  expect_message([&] { MappedFile map(path); }, path, "No such file or directory");
  expect_message([&] { write_file(path, "x"); }, path, "No such file or directory");
  expect_message([&] { MappedFile map(folder_); }, folder_, "not a regular file");
  write_file(folder_ / "file", "x");
  const fs::path below = folder_ / "file" / "below";
  expect_message([&] { write_file(below, "x"); }, below, "Not a directory");
}

TEST_F(FileTest, FullDiskKeepsTheOldFile) {
  const fs::path path = folder_ / "model";
  write_file(path, "old");
  const std::string large(1 << 20, 'n');
  std::string found;
  {
    const FileSizeLimit limit(300'000);
    found = message([&] { write_file(path, large); });
  }
  EXPECT_EQ(found, "[" + path.string() + "] cannot write: File too large");
  EXPECT_EQ(read_file(path, 100), "old");
  EXPECT_EQ(entries(), 1u);
  write_file(path, large);
  EXPECT_EQ(read_file(path, large.size()), large);
}

TEST_F(FileTest, UnwritableFolderOrFileKeepsTheOldFile) {
  const fs::path path = folder_ / "model", closed = folder_ / "closed";
  write_file(path, "old");
  fs::create_directory(closed);
  write_file(closed / "model", "old");
  fs::permissions(path, fs::perms(0444));
  fs::permissions(closed, fs::perms(0555));
  // For root nothing is unwritable, so it plays somebody else for a moment.
  const bool root = ::geteuid() == 0;
  if (root && ::seteuid(65534) != 0) GTEST_SKIP() << "cannot give up root";
  const std::string at_file = message([&] { write_file(path, "new"); });
  const std::string in_folder = message([&] { write_file(closed / "new", "new"); });
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(closed, fs::perms(0755));
  EXPECT_EQ(at_file, "[" + path.string() + "] cannot write: Permission denied");
  EXPECT_NE(in_folder.find("cannot write to the folder: Permission denied"), std::string::npos)
      << in_folder;
  EXPECT_EQ(read_file(path, 100), "old");
  EXPECT_EQ(read_file(closed / "model", 100), "old");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(FileTest, WriteNeverReplacesWhatIsNoRegularFile) {
  expect_message([] { write_file("/dev/null", "x"); }, "/dev/null", "not a regular file");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const fs::path below = folder_ / "below";
  fs::create_directory(below);
  expect_message([&] { write_file(below, "x"); }, below, "not a regular file");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, WriteFollowsALink) {
  fs::create_directory(folder_ / "real");
  write_file(folder_ / "real" / "file", "old");
  fs::create_symlink("real/file", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "real" / "file", 10), "new");
}

TEST_F(FileTest, WriteMakesTheFileThatALinkLeadsTo) {
  fs::create_directory(folder_ / "real");
  fs::create_symlink("real/new", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "real" / "new", 10), "new");
  fs::create_symlink("round", folder_ / "round");
  expect_message([&] { write_file(folder_ / "round", "x"); }, folder_ / "round", "cannot write");
}

TEST_F(FileTest, AStreamIsThereWhenItIsWhole) {
  const fs::path path = folder_ / "stream";
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  write_file(path, "old");
  {
    NewFile file(path);
    file.write(bytes("half"));
    EXPECT_EQ(read_file(file.temporary(), 10), "half");
  }
  EXPECT_EQ(read_file(path, 10), "old");
  EXPECT_EQ(entries(), 1u);
  NewFile file(path);
  file.write(bytes("whole "));
  file.write(bytes("file"));
  EXPECT_EQ(read_file(path, 10), "old");
  file.put_in_place();
  EXPECT_EQ(read_file(path, 10), "whole file");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, WriteKeepsPermissionsAndObeysTheUmask) {
  const auto mode = [&] { return fs::status(folder_ / "a").permissions(); };
  const mode_t mask = ::umask(027);
  write_file(folder_ / "a", "1");
  EXPECT_EQ(mode(), fs::perms(0640));
  fs::permissions(folder_ / "a", fs::perms(0606));
  write_file(folder_ / "a", "2");
  EXPECT_EQ(mode(), fs::perms(0606));
  ::umask(mask);
}

TEST_F(FileTest, TemporariesOfAKilledProcessAreNoObstacle) {
  const std::string stale = ".linnet-" + std::to_string(::getpid()) + "-0.tmp";
  std::ofstream(folder_ / stale) << "stale";
  write_file(folder_ / "a", "new");
  EXPECT_EQ(read_file(folder_ / "a", 10), "new");
  EXPECT_EQ(read_file(folder_ / stale, 10), "stale");
}

TEST_F(FileTest, RelativePath) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  write_file("plain", "x");
  const std::string content = read_file("plain", 1);
  const std::string empty = message([] { write_file("", "x"); });
  fs::current_path(before);
  EXPECT_EQ(content, "x");
  EXPECT_NE(empty, "no Error");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, ConcurrentWritersLeaveOneWholeFile) {
  const fs::path path = folder_ / "a";
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c)
    writers.emplace_back([&, c] {
      for (int i = 0; i < 5; ++i) write_file(path, std::string(10'000, c));
    });
  for (std::thread& writer : writers) writer.join();
  const std::string content = read_file(path, 10'000);
  EXPECT_EQ(content, std::string(10'000, content[0]));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, AKillLeavesAWholeFile) {
  const fs::path path = folder_ / "a";
  // noexcept: the child must never return to the other tests.
  const auto rewrite = [&](char c) noexcept { write_file(path, std::string(200'000, c)); };
  rewrite('a');
  for (int delay_ms = 1; delay_ms < 20; delay_ms += 3) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0; i < 100'000; ++i) rewrite(i % 2 == 0 ? 'a' : 'b');
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string content = read_file(path, 200'000);
    EXPECT_EQ(content, std::string(200'000, content.at(0)));
  }
}

TEST(Printable, KeepsTextAndEscapesWhatSteersATerminal) {
  EXPECT_EQ(printable("block.0/W \"q\" \\"), "block.0/W \"q\" \\");
  EXPECT_EQ(printable("\x1b[31m\n\t\x7f"), "\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  const std::string words = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa6";
  EXPECT_EQ(printable(words), words);
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // a control sequence in one character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
}

TEST(Printable, EscapesBrokenUtf8) {
  EXPECT_EQ(printable("\x80"), "\\x80");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
}

TEST(Printable, CutsLongText) {
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc...");
  EXPECT_LE(printable(std::string(1 << 20, '\n')).size(), 90u);
}

TEST(PlaceOf, EscapesThePathAndKeepsItsEnd) {
  const std::string longest(3000, 'd');
  EXPECT_EQ(place_of("/a\x1b/" + longest), "/a\\x1b/" + longest);
}

}  // namespace
}  // namespace linnet
