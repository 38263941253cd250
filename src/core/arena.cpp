// arena.cpp -- blocks by mmap, so that huge pages and zeroed memory come for free, and the bump
// allocator over them.
#include "core/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "core/error.h"

namespace linnet {
namespace {
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kSmallestArenaBlock = int64_t{1} << 18;  // floats, 1 MiB
}  // namespace

Block::Block(int64_t floats) : size_(floats) {
  LINNET_ASSERT(floats >= 0);
  if (floats == 0) return;
  const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  // Only a wish: where the kernel refuses, small pages do.
  if (static_cast<int64_t>(bytes) >= 2 * kHugePage) madvise(p, bytes, MADV_HUGEPAGE);
  data_ = std::unique_ptr<float, Unmap>(static_cast<float*>(p), Unmap{bytes});
}

void Block::Unmap::operator()(float* p) const { munmap(p, bytes); }

void Block::zero() {
  if (size_ > 0) std::memset(data(), 0, static_cast<size_t>(size_) * sizeof(float));
}

float* Arena::take(int64_t floats) {
  LINNET_ASSERT(floats >= 0);
  floats = round_up(std::max<int64_t>(floats, 1), kAlignFloats);
  while (block_ < blocks_.size() && used_ + floats > blocks_[block_].size()) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) blocks_.emplace_back(std::max(floats, kSmallestArenaBlock));
  float* p = blocks_[block_].data() + used_;
  used_ += floats;
  return p;
}

float* Arena::take_zeroed(int64_t floats) {
  float* p = take(floats);
  std::memset(p, 0, static_cast<size_t>(floats) * sizeof(float));
  return p;
}

}  // namespace linnet
