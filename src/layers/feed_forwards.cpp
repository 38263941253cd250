// feed_forwards.cpp -- the list of feed-forward layers: one line a kind.
#include "core/registry.h"
#include "layers/feed_forward.h"

namespace linnet {

extern const FeedForward kGeluFeedForward;
extern const FeedForward kRelu2FeedForward;
extern const FeedForward kBilinearFeedForward;
extern const FeedForward kSquaresFeedForward;
extern const FeedForward kSquaresLinearFeedForward;
extern const FeedForward kSwigluFeedForward;

std::span<const FeedForward* const> feed_forwards() {
  static constexpr const FeedForward* kList[] = {
      &kGeluFeedForward,    &kRelu2FeedForward,         &kBilinearFeedForward,
      &kSquaresFeedForward, &kSquaresLinearFeedForward, &kSwigluFeedForward,
  };
  return kList;
}

const FeedForward& find_feed_forward(std::string_view name) {
  return find_in(feed_forwards(), "ffn", name);
}

}  // namespace linnet
