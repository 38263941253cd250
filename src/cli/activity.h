// activity.h -- a line on stderr for work whose end is unknown: what is being done, for how long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/terminal.h"

namespace linnet {

// Drawn again twice a second by a thread of its own, since the work may be one long call. Nothing
// when stderr is no terminal, but the last line.
class Activity {
 public:
  explicit Activity(std::string title);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  void show(const std::string& note);

 private:
  void draw();
  std::string title_, note_;
  Clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread ticker_;
};

}  // namespace linnet
