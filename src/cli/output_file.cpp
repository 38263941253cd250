// output_file.cpp -- a NewFile behind a buffer, or the descriptor of what cannot be replaced.
#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "cli/streams.h"
#include "core/error.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = size_t{1} << 16;  // bytes written together

// Temporaries that a signal removes: four files at once are enough.
std::array<std::atomic<const char*>, 4> unfinished;

void remove_unfinished(int signal) {
  for (const std::atomic<const char*>& path : unfinished)
    if (const char* name = path.load()) ::unlink(name);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void remove_by_signals(const fs::path& temporary) {
  const char* free = nullptr;
  for (std::atomic<const char*>& slot : unfinished) {
    if (slot.compare_exchange_strong(free, temporary.c_str())) break;
    free = nullptr;
  }
  // Who has said otherwise, like nohup or a run that saves before it stops, is left alone.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
      std::signal(signal, remove_unfinished);
  }
}

// The descriptor that a path such as /dev/stdout or /dev/fd/3 leads to, or -1.
int descriptor_of(fs::path path) {
  std::error_code error;
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks; ++i) {
    const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
    const std::string name = path.filename().string();
    int number = -1;
    if (folder == fmt::format("/proc/{}/fd", ::getpid())) {
      std::from_chars(name.data(), name.data() + name.size(), number);
      return number;
    }
    if (error || !fs::is_symlink(path, error)) return -1;
    path = folder / fs::read_symlink(path, error);
  }
  return -1;
}

bool is_replaceable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  const int open = path == "-" ? STDOUT_FILENO : descriptor_of(path);
  if (open == STDOUT_FILENO) {
    direct_ = stdout;
  } else if (open >= 0) {
    const int copy = ::fcntl(open, F_DUPFD_CLOEXEC, 0);
    direct_ = copy < 0 ? nullptr : ::fdopen(copy, "wb");
  } else if (is_replaceable(path)) {
    file_.emplace(path);
    remove_by_signals(file_->temporary());
    return;
  } else {
    const int device = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    direct_ = device < 0 ? nullptr : ::fdopen(device, "wb");
  }
  if (direct_ == nullptr) fail();
}

OutputFile::~OutputFile() {
  let_go();
  if (direct_ != nullptr && direct_ != stdout) std::fclose(direct_);
}

void OutputFile::fail() const {
  const int error = errno;
  throw Error(fmt::format("[{}] cannot write: {}", place_of(path_),
                          std::generic_category().message(error)));
}

void OutputFile::let_go() {
  if (!file_) return;
  for (std::atomic<const char*>& slot : unfinished) {
    const char* mine = file_->temporary().c_str();
    slot.compare_exchange_strong(mine, nullptr);
  }
}

void OutputFile::flush() {
  file_->write(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

void OutputFile::write(std::string_view text) {
  if (direct_ == stdout) return write_out(text);
  if (direct_ != nullptr) {
    if (std::fwrite(text.data(), 1, text.size(), direct_) != text.size()) fail();
    return;
  }
  if (buffer_.size() + text.size() > kPiece) flush();
  if (text.size() > kPiece) return file_->write(std::as_bytes(std::span(text)));
  buffer_ += text;
}

void OutputFile::close() {
  if (direct_ == stdout) return flush_out();
  if (direct_ != nullptr) {
    if (std::fflush(direct_) != 0) fail();
    if (std::fclose(std::exchange(direct_, nullptr)) != 0) fail();
    return;
  }
  flush();
  file_->put_in_place();
  let_go();
  file_.reset();
}

}  // namespace linnet
