// provenance.cpp -- asks git, the kernel and the clock.
#include "cli/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "core/context.h"
#include "core/file.h"

namespace linnet {
namespace {

// The first line that a command prints; empty when it fails.
std::string first_line(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return "";
  char line[200] = "";
  const bool any = std::fgets(line, sizeof line, pipe) != nullptr;
  ::pclose(pipe);
  std::string text = any ? line : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string ask_for_commit() {
  const char* root = std::getenv("LINNET_ROOT");
  if (!root) return LINNET_VERSION;
  // The path goes by the environment: the shell reads no part of it as a command.
  const std::string git = "git -C \"$LINNET_ROOT\" ";
  const std::string commit = first_line(git + "rev-parse --short HEAD");
  if (commit.empty()) return LINNET_VERSION;
  // Results that grow are no other program.
  const std::string changed =
      first_line(git + "status --porcelain --untracked-files=no -- ':!results'");
  return commit + (changed.empty() ? "" : "+");
}

}  // namespace

std::string source_commit() {
  static const std::string commit = ask_for_commit();
  return commit;
}

std::string machine_name() {
  std::string cpu = "unknown CPU";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t at = line.find(": ");
    if (at != line.npos) cpu = printable(line.substr(at + 2), 60);
    break;
  }
  return fmt::format("{}, {} cores, {}", cpu, std::thread::hardware_concurrency(),
                     Context::target());
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace linnet
