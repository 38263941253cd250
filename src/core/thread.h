// thread.h -- starts a thread; a system that gives none is a fault to say, not to end by.
#pragma once

#include <functional>
#include <thread>

namespace linnet {

// An Error where there is none to have: a limit of processes, or of memory for its stack.
std::thread start_thread(std::function<void()> run);

}  // namespace linnet
