// thread.cpp -- std::thread, whose fault is an Error.
#include "core/thread.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/error.h"

namespace linnet {

std::thread start_thread(std::function<void()> run) try {
  return std::thread(std::move(run));
} catch (const std::system_error& error) {
  throw Error(
      fmt::format("[--threads] the system starts no more threads ({}): fewer --threads, or a "
                  "higher limit of processes or memory (ulimit -u, -v)",
                  error.code().message()));
}

}  // namespace linnet
