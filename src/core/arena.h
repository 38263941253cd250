// arena.h -- memory of the engine: aligned blocks on huge pages, and a bump allocator that keeps
// them for reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace linnet {

// Rows start on cache lines; also enough for any vector register.
inline constexpr int64_t kAlignFloats = 16;

inline constexpr int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// Leading dimension for `cols` columns: whole cache lines, and an odd number of them, so that the
// rows of one column do not fall on few cache sets (+15 to 20% on K^T V and weight gradients at
// powers of two).
inline constexpr int64_t leading_dim(int64_t cols) {
  const int64_t lines = (cols + kAlignFloats - 1) / kAlignFloats;
  return (lines % 2 == 0 ? lines + 1 : lines) * kAlignFloats;
}

// Floats owned by one place: 64-byte aligned, zeroed, backed by huge pages when large.
class Block {
 public:
  Block() = default;
  explicit Block(int64_t floats);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  void zero();

 private:
  struct Unmap {
    size_t bytes;
    void operator()(float* p) const;
  };
  std::unique_ptr<float, Unmap> data_{nullptr, Unmap{0}};
  int64_t size_ = 0;
};

// Hands out floats in order; a Scope gives back all that was taken since it began. Blocks are kept,
// so that the second sequence touches no new page. What is handed out is not cleared.
class Arena {
 public:
  float* take(int64_t floats);
  float* take_zeroed(int64_t floats);

  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), block_(arena.block_), used_(arena.used_) {}
    ~Scope() {
      arena_.block_ = block_;
      arena_.used_ = used_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    size_t block_;
    int64_t used_;
  };

 private:
  std::vector<Block> blocks_;
  size_t block_ = 0;
  int64_t used_ = 0;
};

}  // namespace linnet
