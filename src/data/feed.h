// feed.h -- an endless row of batches for training, in an order that the seed alone decides.
//
// Examples are read into a window of a bounded number of tokens. Data that fits is read once and
// shuffled anew each epoch; of larger data, windows follow each other, each shuffled, the next one
// read by a thread of its own while this one is trained on; from the second epoch on it comes from
// a cache. A batch has a fixed number of sequences, or as many as a budget of tokens holds;
// sequences of like length may be put together (nothing is padded, so that is a choice of how even
// the steps are, not of speed).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/example_cache.h"
#include "data/part.h"

namespace linnet {

struct FeedOptions {
  uint64_t seed = 1;
  int64_t batch = 32;           // sequences
  int64_t batch_tokens = 0;     // above 0: instead, as many sequences as have so many tokens
  int64_t group = 1;            // batches that are sorted by length together, then cut; 1: none
  int64_t window = 64'000'000;  // tokens in memory; twice as many while data streams
  std::filesystem::path cache = {};  // folder for what does not fit; none: it is read every epoch
};

// An Error names the field, e.g. "[train.batch] ...".
void check_feed(const FeedOptions& options);

// Where the next batch starts.
struct FeedPosition {
  int64_t epoch = 0;     // from 0
  int64_t record = 0;    // of the window's first record in the part
  int64_t batch = 0;     // of the window
  int64_t examples = 0;  // that the window has; 0: not known yet
  bool operator==(const FeedPosition&) const = default;
};

class Feed {
 public:
  using Open = std::function<std::unique_ptr<ExampleStream>()>;
  // Changes a copy of an example whenever it is used, e.g. hides other tokens.
  using Vary = std::function<void(Random& random, Example& example)>;
  // Goes on from `start`, which came from a Feed of the same data and options; a place that the
  // data does not have is an Error, here or of the first next().
  Feed(Open open, const FeedOptions& options, const FeedPosition& start = {}, Vary vary = {});
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Holds until the next call. Faults of the data are thrown here.
  std::span<const Example* const> next();
  // After the batch that next() gave.
  const FeedPosition& position() const { return position_; }
  // Passes over the data that are done, in parts of a whole, when the part has so many records.
  double epochs(int64_t records) const;
  // Whether all data is in memory.
  bool whole() const { return window_ && window_->whole; }

 private:
  struct Window {
    std::vector<Example> examples;
    int64_t first = 0, end = 0;  // records: of the first, after the last
    bool last = false;           // of its epoch
    bool whole = false;          // first and last
  };
  void load();
  std::shared_ptr<Window> read_window(ExampleStream& stream);
  std::shared_ptr<Window> cached_window(int64_t first) const;
  void take_window();
  void check_start() const;
  std::span<const Example* const> varied(size_t begin, size_t end);
  void make_order();

  Open open_;
  FeedOptions options_;
  FeedPosition position_;
  std::shared_ptr<Window> window_;                  // the one in use
  std::vector<const Example*> order_;               // of its examples
  std::vector<std::pair<size_t, size_t>> batches_;  // of order_
  Vary vary_;
  std::vector<Example> copies_;  // that vary_ changed, of one batch
  std::vector<const Example*> batch_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Window> ready_;  // the next one
  std::exception_ptr failure_;
  bool stop_ = false;
  ExampleCache cache_;  // the loader's alone
  std::thread loader_;
};

}  // namespace linnet
