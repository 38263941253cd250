// context_test.cpp -- every task runs once, failures pass through, the CPU target is as asked.
#include "core/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"

namespace linnet {
namespace {

TEST(Context, RunsEveryTaskOnceOnAWorkerThatExists) {
  for (const int threads : {1, 2, 3, 5}) {
    Context context(threads, 17);
    EXPECT_EQ(context.threads(), threads);
    EXPECT_EQ(context.seed(), 17u);
    for (const int64_t tasks : {0, 1, 2, 3, 7, 100, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(tasks));
      std::atomic<int> strangers = 0;
      context.parallel(tasks, [&](int64_t task, int worker) {
        ++runs[static_cast<size_t>(task)];
        strangers += worker < 0 || worker >= threads;
      });
      for (const auto& count : runs)
        ASSERT_EQ(count, 1) << threads << " threads, " << tasks << " tasks";
      EXPECT_EQ(strangers, 0);
    }
  }
}

TEST(Context, TakesAllUsableCoresByDefault) { EXPECT_GE(Context().threads(), 1); }

// For the thread sanitizer: what a task writes without a lock, caller and next round read.
TEST(Context, ManyRoundsHandTheirResultsOver) {
  Context context(3);
  constexpr size_t kTasks = 7;
  std::vector<int64_t> before(kTasks), after(kTasks), runs_of_worker(3);
  for (int64_t round = 1; round <= 2000; ++round) {
    context.parallel(kTasks, [&](int64_t task, int worker) {
      const auto i = static_cast<size_t>(task);
      after[i] = before[(i + 1) % kTasks] + 1;
      ++runs_of_worker[static_cast<size_t>(worker)];
      // Long enough for the others to wake up and take their share.
      std::this_thread::yield();
    });
    std::swap(before, after);
    ASSERT_EQ(before, std::vector<int64_t>(kTasks, round));
  }
  EXPECT_EQ(std::accumulate(runs_of_worker.begin(), runs_of_worker.end(), int64_t{0}), 2000 * 7);
}

TEST(Context, PoolsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    Context idle(3);
    Context busy(2);
    std::atomic<int> count = 0;
    busy.parallel(5, [&](int64_t, int) { ++count; });
    ASSERT_EQ(count, 5);
  }
}

TEST(Context, AnExceptionReachesTheCallerAndThePoolSurvives) {
  for (const int threads : {1, 3}) {
    Context context(threads);
    for (int round = 0; round < 100; ++round) {
      for (const int64_t guilty : {0, 3, 9}) {
        try {
          context.parallel(10, [&](int64_t task, int) {
            if (task == guilty) throw Error("[task] this one");
          });
          FAIL() << "nothing was thrown";
        } catch (const Error& error) {
          EXPECT_STREQ(error.what(), "[task] this one");
        }
        std::atomic<int64_t> sum = 0;
        context.parallel(10, [&](int64_t task, int) { sum += task; });
        ASSERT_EQ(sum, 45);
      }
    }
  }
}

TEST(Context, OneOfManyExceptionsIsThrown) {
  Context context(3);
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(context.parallel(20, [](int64_t, int) { throw std::runtime_error("all"); }),
                 std::runtime_error);
  }
  // None of them is left over for the next call.
  EXPECT_NO_THROW(context.parallel(20, [](int64_t, int) {}));
}

TEST(Context, NoTasksCallNothing) {
  Context context(3);
  context.parallel(0, [](int64_t, int) { FAIL(); });
  context.parallel(-1, [](int64_t, int) { FAIL(); });
}

// Sets LINNET_TARGET for one scope.
class TargetWish {
 public:
  explicit TargetWish(const char* wish) {
    if (const char* old = std::getenv("LINNET_TARGET")) old_ = old;
    set(wish);
  }
  ~TargetWish() {
    set(old_.c_str());
    Context restored(1);
  }

 private:
  static void set(const char* wish) {
    if (*wish == '\0') {
      ::unsetenv("LINNET_TARGET");
    } else {
      ::setenv("LINNET_TARGET", wish, 1);
    }
  }
  std::string old_;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The names in the Error about an unknown target.
std::vector<std::string> known_targets(const char* wish) {
  TargetWish target(wish);
  try {
    Context context(1);
  } catch (const Error& error) {
    const std::string message = error.what(), start = "there are: ";
    EXPECT_EQ(message.find("[LINNET_TARGET]"), 0u) << message;
    EXPECT_NE(message.find(wish), std::string::npos) << message;
    const size_t list = message.find(start);
    EXPECT_NE(list, std::string::npos) << message;
    std::vector<std::string> names;
    std::istringstream rest(message.substr(list + start.size()));
    for (std::string name; std::getline(rest >> std::ws, name, ',');) names.push_back(name);
    return names;
  }
  ADD_FAILURE() << wish << " was accepted";
  return {};
}

TEST(Context, AnUnknownTargetIsAnErrorThatNamesTheKnownOnes) {
  const std::vector<std::string> known = known_targets("none");
  EXPECT_NE(std::find(known.begin(), known.end(), "scalar"), known.end());
  for (const char* wish : {"avx9", "sse4 ", ",", "%s{}"}) EXPECT_EQ(known_targets(wish), known);
  // And the one after it works.
  Context context(2);
  EXPECT_EQ(context.threads(), 2);
}

TEST(Context, TakesEveryKnownTargetInAnyCase) {
  for (std::string name : known_targets("none")) {
    for (const bool upper : {false, true}) {
      std::string wish = name;
      if (upper) wish[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(wish[0])));
      TargetWish target(wish.c_str());
      Context context(1);
      EXPECT_EQ(lower(Context::target()), name);
    }
  }
  EXPECT_FALSE(Context::target().empty());
}

TEST(Context, ATargetIsUsedUntilItIsTakenBack) {
  TargetWish none("");
  Context::use_target("");
  const std::string usual = Context::target();
  EXPECT_FALSE(Context::has_target("magic"));
  EXPECT_FALSE(Context::has_target(""));
  for (const std::string& name : known_targets("magic")) {
    ASSERT_TRUE(Context::has_target(name)) << name;
    Context::use_target(name);
    EXPECT_EQ(lower(Context::target()), name);
    EXPECT_TRUE(Context::has_target(usual));  // of all, not of the one in use
    Context context(1);
    EXPECT_EQ(lower(Context::target()), name);
  }
  Context::use_target("");
  EXPECT_EQ(Context::target(), usual);
}

}  // namespace
}  // namespace linnet
