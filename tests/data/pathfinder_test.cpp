// pathfinder_test.cpp -- scenes keep their rule, images show them, labels say where the dots are.
#include "data/pathfinder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/context.h"
#include "core/error.h"

namespace linnet {
namespace {

using Point = PathfinderScene::Point;
using Dash = PathfinderScene::Dash;

double apart(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

// Of two dashes, by points on both of them.
double apart(const Dash& a, const Dash& b) {
  constexpr int kSteps = 20;
  const auto at = [](const Dash& d, double t) {
    return Point{d.from.x + t * (d.to.x - d.from.x), d.from.y + t * (d.to.y - d.from.y)};
  };
  double least = INFINITY;
  for (int i = 0; i <= kSteps; ++i)
    for (int j = 0; j <= kSteps; ++j)
      least = std::min(least, apart(at(a, i * 1.0 / kSteps), at(b, j * 1.0 / kSteps)));
  return least;
}

std::vector<uint8_t> image_of(const PathfinderRule& rule, const PathfinderScene& scene) {
  std::vector<uint8_t> pixels(static_cast<size_t>(rule.size * rule.size));
  draw_pathfinder(rule, scene, pixels);
  return pixels;
}

TEST(PathfinderTest, LabelsSayWhereTheDotsAre) {
  const PathfinderRule rule = pathfinder_rule(32);
  int ones = 0, first_path = 0;
  for (int64_t row = 0; row < 200; ++row) {
    const PathfinderScene scene = pathfinder_scene(rule, 1, row);
    int starts = -1, ends = -1;
    for (int path = 0; path < 2; ++path) {
      const auto& dashes = scene.paths[static_cast<size_t>(path)];
      if (apart(scene.dots[0], dashes.front().from) == 0) starts = path;
      if (apart(scene.dots[1], dashes.back().to) == 0) ends = path;
    }
    ASSERT_GE(starts, 0);
    ASSERT_GE(ends, 0);
    EXPECT_EQ(scene.label, starts == ends);
    ones += scene.label;
    first_path += starts;
    if (row % 2 == 1) {
      EXPECT_EQ(ones, (row + 1) / 2);  // balanced at every even number of rows
    }
  }
  EXPECT_NEAR(first_path, 100, 35);
}

TEST(PathfinderTest, PathsKeepTheirRule) {
  for (const int size : {32, 64, 128}) {
    const PathfinderRule rule = pathfinder_rule(size);
    size_t distractors = 0;
    constexpr int64_t kRows = 20;
    for (int64_t row = 0; row < kRows; ++row) {
      const PathfinderScene scene = pathfinder_scene(rule, 2, row);
      std::vector<std::vector<Dash>> paths(scene.paths.begin(), scene.paths.end());
      EXPECT_EQ(paths[0].size(), 14u);
      EXPECT_EQ(paths[1].size(), 14u);
      EXPECT_NEAR(apart(paths[0][0].from, paths[1][0].from), rule.seed_distance, 1e-9);
      paths.insert(paths.end(), scene.distractors.begin(), scene.distractors.end());
      distractors += scene.distractors.size();
      for (size_t a = 0; a < paths.size(); ++a) {
        for (size_t i = 0; i < paths[a].size(); ++i) {
          const Dash& dash = paths[a][i];
          ASSERT_NEAR(apart(dash.from, dash.to), rule.dash, 1e-9);
          for (const Point p : {dash.from, dash.to}) {
            ASSERT_GE(std::min(p.x, p.y), rule.padding);
            ASSERT_LE(std::max(p.x, p.y), size - rule.padding);
          }
          if (i > 0) {
            ASSERT_LE(apart(paths[a][i - 1].to, dash.from), 2 * rule.margin_most + 1e-9);
          }
          // Every other dash keeps its distance.
          for (size_t b = 0; b < paths.size(); ++b) {
            for (size_t j = 0; j < paths[b].size(); ++j) {
              if (a == b && (i > j ? i - j : j - i) <= 1) continue;
              ASSERT_GE(apart(dash, paths[b][j]), 2 * rule.margin + rule.thickness - 1e-9);
            }
          }
        }
      }
    }
    EXPECT_GT(distractors, static_cast<size_t>(kRows) * 2) << size;
    EXPECT_LE(distractors, static_cast<size_t>(kRows * rule.distractors));
  }
}

TEST(PathfinderTest, ImagesShowDotsAndDashes) {
  for (const int size : {32, 64, 128}) {
    const PathfinderRule rule = pathfinder_rule(size);
    for (int64_t row = 0; row < 10; ++row) {
      const PathfinderScene scene = pathfinder_scene(rule, 3, row);
      const std::vector<uint8_t> pixels = image_of(rule, scene);
      const auto pixel = [&](Point p) {
        return pixels[static_cast<size_t>(static_cast<int>(p.y) * size + static_cast<int>(p.x))];
      };
      for (const Point dot : scene.dots) EXPECT_EQ(pixel(dot), 255);
      for (const auto& path : scene.paths) {
        for (const Dash& dash : path)
          EXPECT_GT(pixel({(dash.from.x + dash.to.x) / 2, (dash.from.y + dash.to.y) / 2}), 20);
      }
      // Mostly black.
      EXPECT_GT(std::ranges::count(pixels, 0), size * size / 2);
    }
  }
}

TEST(PathfinderTest, TheSameOnAnyThread) {
  const PathfinderRule rule = pathfinder_rule(32);
  constexpr int64_t kRows = 64;
  std::vector<std::vector<uint8_t>> first;
  for (const int threads : {1, 2, 3}) {
    Context context(threads);
    std::vector<std::vector<uint8_t>> images(kRows);
    context.parallel(kRows, [&](int64_t row, int) {
      images[static_cast<size_t>(row)] = image_of(rule, pathfinder_scene(rule, 5, row));
    });
    if (first.empty()) first = images;
    EXPECT_EQ(images, first);
  }
  for (size_t row = 1; row < kRows; ++row) EXPECT_NE(first[row], first[row - 1]);
  EXPECT_NE(image_of(rule, pathfinder_scene(rule, 6, 0)), first[0]);
}

// What does not follow a path must not tell the label: neither the brightness nor, by much, how far
// the dots are apart. (LRA's own images have the second hint as well.)
TEST(PathfinderTest, EasyHintsAreWeak) {
  const PathfinderRule rule = pathfinder_rule(32);
  constexpr int kRows = 1000;
  std::vector<std::pair<double, int>> by_distance, by_brightness;
  for (int64_t row = 0; row < kRows; ++row) {
    const PathfinderScene scene = pathfinder_scene(rule, 9, row);
    double sum = 0;
    for (const uint8_t value : image_of(rule, scene)) sum += value;
    by_distance.emplace_back(apart(scene.dots[0], scene.dots[1]), scene.label);
    by_brightness.emplace_back(sum, scene.label);
  }
  const auto best_accuracy = [](std::vector<std::pair<double, int>> rows) {
    std::ranges::sort(rows);
    int ones_below = 0, best = 0;
    for (int i = 0; i < kRows; ++i) {
      ones_below += rows[static_cast<size_t>(i)].second;
      const int hits = ones_below + (kRows / 2 - (i + 1 - ones_below));
      best = std::max({best, hits, kRows - hits});
    }
    return static_cast<double>(best) / kRows;
  };
  EXPECT_LT(best_accuracy(by_brightness), 0.56);
  EXPECT_LT(best_accuracy(by_distance), 0.65);
}

TEST(PathfinderTest, ImpossibleRulesAreNamed) {
  EXPECT_THROW(pathfinder_rule(33), Error);
  EXPECT_THROW(pathfinder_rule(32, 2), Error);
  const auto with = [](auto change) {
    PathfinderRule rule = pathfinder_rule(32);
    change(rule);
    return [rule] { pathfinder_scene(rule, 1, 0); };
  };
  EXPECT_THROW(with([](auto& r) { r.size = 8; })(), Error);
  EXPECT_THROW(with([](auto& r) { r.dash = 0; })(), Error);
  EXPECT_THROW(with([](auto& r) { r.margin = 2; })(), Error);
  EXPECT_THROW(with([](auto& r) { r.continuity = 0; })(), Error);
  EXPECT_THROW(with([](auto& r) { r.path_dashes = 200; })(), Error);  // no place
}

}  // namespace
}  // namespace linnet
