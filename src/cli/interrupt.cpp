// interrupt.cpp -- the flag that signals set.
#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace linnet {
namespace {

std::atomic<bool> flag = false;

}  // namespace

void stop_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { flag = true; });
}

bool interrupted() { return flag; }

}  // namespace linnet
