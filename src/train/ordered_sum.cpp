// ordered_sum.cpp -- hands out blocks and adds them in order.
#include "train/ordered_sum.h"

#include "kernels/rows.h"

namespace linnet {

OrderedSum::OrderedSum(int64_t floats, int blocks) : total_(floats) {
  blocks_.reserve(static_cast<size_t>(blocks));
  for (int i = 0; i < blocks; ++i) free_.push_back(&blocks_.emplace_back(floats));
}

void OrderedSum::start_round() { taken_ = added_ = 0; }

Block& OrderedSum::take(int64_t task) {
  std::unique_lock lock(mutex_);
  // In order: else later tasks could hold every block while the one they all wait for has none.
  changed_.wait(lock, [&] { return taken_ == task && !free_.empty(); });
  ++taken_;
  Block* block = free_.back();
  free_.pop_back();
  changed_.notify_all();
  return *block;
}

void OrderedSum::give(int64_t task, Block& block) {
  std::unique_lock lock(mutex_);
  ready_[task] = &block;
  if (adding_) return;  // whoever adds now will see it
  adding_ = true;
  for (auto next = ready_.find(added_); next != ready_.end(); next = ready_.find(added_)) {
    Block* turn = next->second;
    ready_.erase(next);
    lock.unlock();
    add(total_.size(), turn->data(), total_.data());
    turn->zero();
    lock.lock();
    ++added_;
    free_.push_back(turn);
    changed_.notify_all();
  }
  adding_ = false;
}

}  // namespace linnet
