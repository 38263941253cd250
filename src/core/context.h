// context.h -- what a computation runs on: threads, a seed, the CPU target and a memory budget;
// passed along, never global.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/memory_budget.h"

namespace linnet {

class Context {
 public:
  // threads = 0: one for each core that this process may use. Takes the CPU target from
  // LINNET_TARGET (scalar, sse4, avx2, avx3, ...) when it is set; an unknown or missing one is an
  // Error. So is a number of threads that the system does not give.
  explicit Context(int threads = 0, uint64_t seed = 1, const MemoryBudget& memory = MemoryBudget());
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  uint64_t seed() const { return seed_; }
  // What may be allocated; whoever makes something large asks it before.
  const MemoryBudget& memory() const { return memory_; }
  // The instruction set that the kernels run with, e.g. "AVX2".
  static std::string target();
  // Whether this CPU has the one of this name, in any case of letters.
  static bool has_target(std::string_view name);
  // From now on the kernels of the whole process run with that one, which has_target; empty: as if
  // none was ever asked for, so by LINNET_TARGET or the best. Never during a computation, nor with
  // weights that are packed already.
  static void use_target(std::string_view name);
  // What LINNET_TARGET says; empty when it is not set.
  static std::string wished_target();

  // Calls job(task, worker) for every task in 0 .. tasks-1, each task on one thread, in no fixed
  // order; worker is in 0 .. threads()-1. Tasks start in order of their number. Returns when all
  // are done; the first exception is thrown again here.
  void parallel(int64_t tasks, const std::function<void(int64_t task, int worker)>& job);

 private:
  void stop();
  void work(int worker);
  void drain(int worker);

  uint64_t seed_;
  MemoryBudget memory_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int64_t, int)>* job_ = nullptr;
  std::exception_ptr failure_;
  int64_t next_ = 0, tasks_ = 0, running_ = 0;
  uint64_t round_ = 0;
  bool stop_ = false;
};

}  // namespace linnet
