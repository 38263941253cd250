// activity.cpp -- the line and its thread.
#include "cli/activity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "cli/streams.h"
#include "core/thread.h"

namespace linnet {

Activity::Activity(std::string title) : title_(std::move(title)), start_(Clock::now()) {
  if (isatty(2) == 0) return;
  ticker_ = start_thread([this] {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stop_; })) {
      print_note("\r");
      draw();
      print_note("\x1b[K");
    }
  });
}

Activity::~Activity() {
  const bool terminal = ticker_.joinable();
  if (terminal) {
    std::unique_lock lock(mutex_);
    stop_ = true;
    lock.unlock();
    wake_.notify_one();
    ticker_.join();
    print_note("\r\x1b[K");
  }
  // A failure has one line of its own.
  if (note_.empty() || std::uncaught_exceptions() > 0) return;
  draw();
  print_note("\n");
}

void Activity::draw() { print_note("{}: {}, {:.0f} s", title_, note_, seconds_since(start_)); }

void Activity::show(const std::string& note) {
  std::lock_guard lock(mutex_);
  note_ = note;
}

}  // namespace linnet
