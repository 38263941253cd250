// context.cpp -- the thread pool and the choice of the CPU target.
#include "core/context.h"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "core/thread.h"

namespace linnet {
namespace {

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// All that this CPU has, of which Highway may be restricted to one at the moment.
int64_t all_targets() {
  const int64_t now = hwy::SupportedTargets();
  hwy::SetSupportedTargetsForTest(0);
  const int64_t all = hwy::SupportedTargets() & HWY_TARGETS;
  hwy::SetSupportedTargetsForTest(now);
  return all;
}

// 0: there is none of this name.
int64_t find_target(std::string_view name) {
  for (int64_t left = all_targets(); left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    if (lower(hwy::TargetName(target)) == lower(name)) return target;
  }
  return 0;
}

// Restricts Highway to the target named by LINNET_TARGET.
void apply_target() {
  const std::string wish = Context::wished_target();
  if (wish.empty()) return;
  if (const int64_t target = find_target(wish)) return hwy::SetSupportedTargetsForTest(target);
  std::string known;
  for (int64_t left = all_targets(); left != 0; left &= left - 1)
    known += (known.empty() ? "" : ", ") + lower(hwy::TargetName(left & -left));
  throw Error(fmt::format("[LINNET_TARGET] no such target on this CPU: {:.40}; there are: {}", wish,
                          known));
}

// Denormals cost a hundred cycles each and carry nothing here.
void flush_denormals() {
#if HWY_ARCH_X86
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

}  // namespace

Context::Context(int threads, uint64_t seed, const MemoryBudget& memory)
    : seed_(seed), memory_(memory) {
  apply_target();
  flush_denormals();
  if (threads <= 0) threads = usable_cores();
  workers_.reserve(static_cast<size_t>(threads));
  try {
    for (int worker = 1; worker < threads; ++worker)
      workers_.push_back(start_thread([this, worker] { work(worker); }));
  } catch (...) {
    stop();  // those that were started
    throw;
  }
}

Context::~Context() { stop(); }

void Context::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::string Context::target() {
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(supported & -supported);
}

bool Context::has_target(std::string_view name) { return find_target(name) != 0; }

void Context::use_target(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  if (name.empty()) return apply_target();
  const int64_t target = find_target(name);
  LINNET_ASSERT(target != 0);
  hwy::SetSupportedTargetsForTest(target);
}

std::string Context::wished_target() {
  const char* wish = std::getenv("LINNET_TARGET");
  return wish == nullptr ? "" : wish;
}

void Context::work(int worker) {
  flush_denormals();
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || (round_ != seen && next_ < tasks_); });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    drain(worker);
    lock.lock();
  }
}

void Context::drain(int worker) {
  std::unique_lock lock(mutex_);
  while (next_ < tasks_) {
    const int64_t task = next_++;
    const auto* job = job_;
    ++running_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*job)(task, worker);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (failure && !failure_) {
      failure_ = failure;
      next_ = tasks_;
    }
  }
  if (running_ == 0) done_.notify_all();
}

void Context::parallel(int64_t tasks, const std::function<void(int64_t, int)>& job) {
  if (tasks <= 0) return;
  if (workers_.empty() || tasks == 1) {
    for (int64_t task = 0; task < tasks; ++task) job(task, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    LINNET_ASSERT(job_ == nullptr);  // not from inside a job
    job_ = &job;
    next_ = 0;
    tasks_ = tasks;
    ++round_;
  }
  wake_.notify_all();
  drain(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0 && next_ >= tasks_; });
  job_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace linnet
