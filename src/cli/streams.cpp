// streams.cpp -- checked writes to standard output, unchecked ones to standard error.
#include "cli/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace linnet {
namespace {

[[noreturn]] void fail() {
  if (errno == EPIPE) throw ClosedPipe();
  throw Error(fmt::format("[standard output] cannot write: {}", std::strerror(errno)));
}

}  // namespace

void prepare_streams() {
  for (const int descriptor : {0, 1, 2}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. Opened the wrong way round, so that its use still fails.
    if (::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) std::_Exit(2);
  }
  std::signal(SIGPIPE, SIG_IGN);
  // Else every read from it would flush stdout, without a look at whether that worked.
  std::cin.tie(nullptr);
}

void end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail();
}

void flush_out() {
  if (std::fflush(stdout) != 0) fail();
}

void write_json(const nlohmann::ordered_json& json) {
  // Names and places may hold any bytes; a JSON line may not.
  write_out(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void write_note(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace linnet
