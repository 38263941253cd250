// memory.cpp -- VmHWM of /proc/self/status.
#include "cli/memory.h"

#include <fstream>
#include <string>

namespace linnet {

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    int64_t kilobytes = 0;
    if (key == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
    status.ignore(4096, '\n');
  }
  return 0;
}

}  // namespace linnet
