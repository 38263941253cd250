// peer.cpp -- a child process behind two pipes.
#include "cli/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/interrupt.h"
#include "core/error.h"
#include "core/file.h"

extern char** environ;

namespace linnet {

Peer::Peer(const std::vector<std::string>& command) : name_(command.at(0)) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
    throw Error("[bench] cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int failure =
      posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
  if (failure != 0) {
    process_ = -1;
    throw Error(fmt::format("[bench] cannot start {}", name_));
  }
  greeting_ = read_line();
}

Peer::~Peer() {
  std::fclose(to_);  // the end of its input ends it
  std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void Peer::await() {
  constexpr int kMoment = 100;  // milliseconds
  pollfd ready = {fileno(from_), POLLIN, 0};
  while (::poll(&ready, 1, kMoment) <= 0) {
    if (!interrupted()) continue;
    ::kill(process_, SIGTERM);
    throw CLI::RuntimeError(130);
  }
}

nlohmann::json Peer::read_line() {
  await();
  std::string line;
  for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) line += static_cast<char>(c);
  nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  if (!answer.is_object()) {
    throw Error(
        fmt::format("[bench] {} did not answer as expected: \"{}\"", name_, printable(line)));
  }
  return answer;
}

nlohmann::json Peer::ask(const std::string& line) {
  std::fputs((line + "\n").c_str(), to_);
  std::fflush(to_);  // of a peer that died no answer comes, which says so
  return read_line();
}

}  // namespace linnet
