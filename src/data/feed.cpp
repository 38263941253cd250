// feed.cpp -- windows, their order and their batches.
#include "data/feed.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "core/thread.h"

namespace linnet {
namespace {

template <class Item>
void shuffle(Random& random, std::vector<Item>& items) {
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(static_cast<uint32_t>(i))]);
}

// Of a place that the data does not have.
[[noreturn]] void refuse_start(int64_t record, const std::string& why) {
  throw Error(fmt::format(
      "[data] training cannot go on from record {}: {}; is the data what the run began with?",
      record, why));
}

}  // namespace

void check_feed(const FeedOptions& options) {
  const auto check = [](const char* name, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most)
      throw Error(fmt::format("[train.{}] must be {} to {}, not {}", name, least, most, value));
  };
  check("batch", options.batch, 1, 1 << 20);
  check("batch_tokens", options.batch_tokens, 0, int64_t{1} << 32);
  check("group", options.group, 1, 1 << 20);
  check("window", options.window, 1, int64_t{1} << 40);
}

Feed::Feed(Open open, const FeedOptions& options, const FeedPosition& start, Vary vary)
    : open_(std::move(open)),
      options_(options),
      position_(start),
      vary_(std::move(vary)),
      cache_(options.cache) {
  check_feed(options);
  if (start.epoch < 0 || start.record < 0 || start.batch < 0 || start.examples < 0)
    refuse_start(start.record, "a place in the data cannot be negative");
  loader_ = start_thread([this] {
    try {
      load();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  });
}

Feed::~Feed() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  loader_.join();
}

// The loader's thread: one window after the other, one ahead of the one in use. A window has the
// same records in every epoch, so one that was seen before is in the cache.
void Feed::load() {
  int64_t at = position_.record;
  std::unique_ptr<ExampleStream> stream;
  while (true) {
    std::shared_ptr<Window> window = cached_window(at);
    if (!window) {
      if (!stream || stream->records() != at) {
        stream = open_();
        stream->skip(at);
        if (stream->records() != at)
          refuse_start(at, fmt::format("the data has {}", stream->records()));
      }
      window = read_window(*stream);
      if (!window) return;
      if (!window->whole) cache_.keep(at, window->examples, window->end, window->last);
    }
    at = window->last ? 0 : window->end;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || !ready_; });
    if (stop_) return;
    ready_ = window;
    lock.unlock();
    changed_.notify_all();
    if (window->whole) return;  // it serves every epoch
    // From now on in the gaps that training leaves: a core that is taken from it halts the others,
    // too, until its part of a step is done. The first window is waited for, so others' work on the
    // machine must not hold it up. Of this thread alone, as Linux has it; a refusal does no harm.
    setpriority(PRIO_PROCESS, 0, 19);
  }
}

std::shared_ptr<Feed::Window> Feed::cached_window(int64_t first) const {
  std::optional<ExampleCache::Span> span = cache_.find(first);
  if (!span) return nullptr;
  return std::make_shared<Window>(Window{
      .examples = std::move(span->examples), .first = first, .end = span->end, .last = span->last});
}

// Null when the feed is being closed.
std::shared_ptr<Feed::Window> Feed::read_window(ExampleStream& stream) {
  auto window = std::make_shared<Window>();
  window->first = stream.records();
  int64_t tokens = 0;
  size_t counted = 0;
  while (tokens < options_.window) {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return nullptr;
    }
    window->last = !stream.next(window->examples);
    for (; counted < window->examples.size(); ++counted)
      tokens += tokens_of(window->examples[counted]);
    if (window->last) break;
  }
  stream.cut(window->examples);
  window->end = stream.records();
  window->whole = window->last && window->first == 0;
  if (window->whole && window->examples.empty())
    throw Error("[data] not a single example came of it");
  return window;
}

void Feed::take_window() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_ || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  window_ = std::move(ready_);
  ready_ = nullptr;
  changed_.notify_all();
}

// The first window, now that it is there.
void Feed::check_start() const {
  const auto examples = static_cast<int64_t>(order_.size()),
             batches = static_cast<int64_t>(batches_.size());
  if (position_.batch > batches)
    refuse_start(position_.record,
                 fmt::format("after batch {}, but there are {}", position_.batch, batches));
  if (position_.examples > 0 && position_.examples != examples)
    refuse_start(position_.record,
                 fmt::format("there were {} examples, now {}", position_.examples, examples));
}

// Depends on the seed and on where the window starts, never on how it was come to.
void Feed::make_order() {
  Random random(options_.seed, philox(options_.seed, static_cast<uint64_t>(position_.epoch),
                                      static_cast<uint64_t>(position_.record))[0]);
  order_.clear();
  for (const Example& example : window_->examples) order_.push_back(&example);
  shuffle(random, order_);
  batches_.clear();
  const auto budget = static_cast<size_t>(options_.batch);
  const size_t pool =
      options_.group > 1 ? budget * static_cast<size_t>(options_.group) : order_.size();
  for (size_t begin = 0; begin < order_.size(); begin += pool) {
    const size_t end = std::min(order_.size(), begin + pool);
    if (options_.group > 1) {
      std::stable_sort(
          order_.begin() + static_cast<int64_t>(begin), order_.begin() + static_cast<int64_t>(end),
          [](const Example* a, const Example* b) { return tokens_of(*a) < tokens_of(*b); });
    }
    int64_t tokens = 0;
    for (size_t i = begin; i < end; ++i) {
      tokens += tokens_of(*order_[i]);
      const bool full = options_.batch_tokens > 0
                            ? tokens > options_.batch_tokens
                            : i > begin && i - batches_.back().first >= budget;
      if (i == begin || full) {
        batches_.push_back({i, i});
        tokens = tokens_of(*order_[i]);
      }
      batches_.back().second = i + 1;
    }
  }
  if (options_.group > 1) shuffle(random, batches_);
}

double Feed::epochs(int64_t records) const {
  if (!window_ || batches_.empty()) return static_cast<double>(position_.epoch);
  const double share = static_cast<double>(position_.batch) / static_cast<double>(batches_.size());
  const auto first = static_cast<double>(window_->first);
  const double done = first + (static_cast<double>(window_->end) - first) * share;
  return static_cast<double>(position_.epoch) +
         done / static_cast<double>(std::max(records, window_->end));
}

std::span<const Example* const> Feed::next() {
  while (!window_ || position_.batch == static_cast<int64_t>(batches_.size())) {
    const bool first = !window_;
    if (first || !window_->whole) {
      const bool last = window_ && window_->last;
      const int64_t end = window_ ? window_->end : 0;
      take_window();
      if (!first)
        position_ = last ? FeedPosition{.epoch = position_.epoch + 1}
                         : FeedPosition{.epoch = position_.epoch, .record = end};
    } else {
      position_ = {.epoch = position_.epoch + 1};
    }
    make_order();
    if (first) check_start();
    position_.examples = static_cast<int64_t>(order_.size());
  }
  const auto [begin, end] = batches_[static_cast<size_t>(position_.batch++)];
  return vary_ ? varied(begin, end) : std::span(order_).subspan(begin, end - begin);
}

// As the order, a change depends on the seed and on the place in the data alone.
std::span<const Example* const> Feed::varied(size_t begin, size_t end) {
  const uint64_t key =
      Random(options_.seed, philox(options_.seed, ~static_cast<uint64_t>(position_.epoch),
                                   static_cast<uint64_t>(position_.record))[0])
          .bits64();
  copies_.clear();
  batch_.clear();
  for (size_t i = begin; i < end; ++i) {
    Random random(key, i);
    vary_(random, copies_.emplace_back(*order_[i]));
  }
  for (const Example& copy : copies_) batch_.push_back(&copy);
  return batch_;
}

}  // namespace linnet
