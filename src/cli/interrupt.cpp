// interrupt.cpp -- the flag that signals set.
#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace linnet {
namespace {

std::atomic<bool> flag = false;

void handle(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, handler);
  if (std::signal(SIGHUP, handler) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
}

}  // namespace

void stop_on_signals() {
  handle([](int) { flag = true; });
}

void end_on_signals() { handle(SIG_DFL); }

bool interrupted() { return flag; }

}  // namespace linnet
