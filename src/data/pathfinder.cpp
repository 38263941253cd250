// pathfinder.cpp -- paths as lists of segments: grown by rejection, then drawn.
//
// Cost, one core: 1 ms an image of 32 x 32, 3 ms of 128 x 128; 64 x 64 is the narrowest, 10 ms.
#include "data/pathfinder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/random.h"

namespace linnet {
namespace {

using Point = PathfinderScene::Point;
using Dash = PathfinderScene::Dash;

// Keeps Pathfinder apart from whatever else is drawn from the same seed.
constexpr uint64_t kStream = 0x50617468'00000000;  // "Path", then the row
constexpr int kTurnTries = 16;                     // for one dash, before its path goes back
constexpr uint32_t kMaxRetreat = 5;                // dashes
constexpr int kRetreats = 60;                      // of a scene, before it is begun anew
constexpr int kDistractorTries = 40;
constexpr int kSceneTries = 2000;  // a few are usual, so this is an impossible rule
constexpr int kGrid = 8;           // points a pixel, each way

Point ahead(Point from, double angle, double length) {
  return {from.x + length * std::cos(angle), from.y + length * std::sin(angle)};
}

double distance(Point p, const Dash& d) {
  const double x = d.to.x - d.from.x, y = d.to.y - d.from.y;
  const double t = ((p.x - d.from.x) * x + (p.y - d.from.y) * y) / (x * x + y * y);
  const double u = std::clamp(t, 0.0, 1.0);
  return std::hypot(d.from.x + u * x - p.x, d.from.y + u * y - p.y);
}

// Which side of the line through d the point is on.
double side(Point p, const Dash& d) {
  return (d.to.x - d.from.x) * (p.y - d.from.y) - (d.to.y - d.from.y) * (p.x - d.from.x);
}

double distance(const Dash& a, const Dash& b) {
  if (side(a.from, b) * side(a.to, b) < 0 && side(b.from, a) * side(b.to, a) < 0) return 0;
  return std::min({distance(a.from, b), distance(a.to, b), distance(b.from, a), distance(b.to, a)});
}

class SceneMaker {
 public:
  SceneMaker(const PathfinderRule& rule, uint64_t seed, int64_t row)
      : rule_(rule), random_(seed, kStream + static_cast<uint64_t>(row)) {
    const auto choices = static_cast<uint32_t>(rule.margin_most - rule.margin + 1);
    margin_ = rule.margin + static_cast<double>(random_.below(choices));
  }

  PathfinderScene make() {
    for (int attempt = 0; attempt < kSceneTries; ++attempt) {
      paths_.clear();
      if (!two_paths()) continue;
      for (int i = 0; i < rule_.distractors; ++i) distractor();
      PathfinderScene scene;
      for (size_t i = 0; i < 2; ++i) scene.paths[i] = std::move(paths_[i].dashes);
      for (size_t i = 2; i < paths_.size(); ++i)
        scene.distractors.push_back(std::move(paths_[i].dashes));
      return scene;
    }
    throw Error("[pathfinder] the paths find no place: fewer or shorter dashes, or a larger image");
  }

 private:
  struct Path {
    std::vector<Dash> dashes;
    std::vector<double> angles;
  };

  double any_angle() { return 2 * std::numbers::pi * random_.uniform(); }

  // A dash keeps off the border and off all others, but the one before it in its path.
  bool fits(const Dash& dash, const Path& own) const {
    const double low = rule_.padding, high = rule_.size - rule_.padding;
    for (const Point p : {dash.from, dash.to})
      if (p.x < low || p.y < low || p.x > high || p.y > high) return false;
    const double clearance = 2 * margin_ + rule_.thickness;
    for (const Path& path : paths_) {
      std::span<const Dash> others = path.dashes;
      if (&path == &own && !others.empty()) others = others.first(others.size() - 1);
      for (const Dash& other : others) {
        // Most are too far for a closer look.
        if (std::hypot(dash.from.x - other.from.x, dash.from.y - other.from.y) >
            clearance + 2 * rule_.dash)
          continue;
        if (distance(dash, other) < clearance) return false;
      }
    }
    return true;
  }

  bool add(const Point from, double angle, Path& path) {
    const Dash dash{from, ahead(from, angle, rule_.dash)};
    if (!fits(dash, path)) return false;
    path.dashes.push_back(dash);
    path.angles.push_back(angle);
    return true;
  }

  // Density proportional to cos^2(continuity d): by rejection.
  double turn() {
    const double widest = std::numbers::pi / 2 / rule_.continuity;
    for (;;) {
      const double d = (2 * random_.uniform() - 1) * widest;
      const double height = std::cos(rule_.continuity * d);
      if (random_.uniform() < height * height) return d;
    }
  }

  // One more dash: a margin straight on, the turn, a margin, the dash.
  bool extend(Path& path) {
    const Point pivot = ahead(path.dashes.back().to, path.angles.back(), margin_);
    for (int attempt = 0; attempt < kTurnTries; ++attempt) {
      const double angle = path.angles.back() + turn();
      if (add(ahead(pivot, angle, margin_), angle, path)) return true;
    }
    return false;
  }

  // Until it has so many dashes. Where it cannot go on, it goes back a little.
  bool grow(Path& path, int dashes, int& retreats) {
    while (static_cast<int>(path.dashes.size()) < dashes) {
      if (extend(path)) continue;
      if (retreats-- == 0) return false;
      const size_t length = path.dashes.size();
      const size_t left = length - std::min<size_t>(length - 1, 1 + random_.below(kMaxRetreat));
      path.dashes.resize(left);
      path.angles.resize(left);
    }
    return true;
  }

  bool two_paths() {
    const double border = std::min(2 * rule_.seed_distance, 0.45 * rule_.size);
    const double room = rule_.size - 2 * border;
    const double x = border + room * random_.uniform(), y = border + room * random_.uniform();
    const Point first{x, y}, second = ahead(first, any_angle(), rule_.seed_distance);
    paths_.resize(2);
    if (!add(first, any_angle(), paths_[0]) || !add(second, any_angle(), paths_[1])) return false;
    int retreats = kRetreats;
    for (int dashes = 2; dashes <= rule_.path_dashes; ++dashes)
      for (Path& path : paths_)
        if (!grow(path, dashes, retreats)) return false;
    return true;
  }

  void distractor() {
    Path& path = paths_.emplace_back();
    for (int attempt = 0; attempt < kDistractorTries; ++attempt) {
      path = {};
      const double x = rule_.size * random_.uniform(), y = rule_.size * random_.uniform();
      int retreats = 0;
      if (add({x, y}, any_angle(), path) && grow(path, rule_.distractor_dashes, retreats)) return;
    }
    paths_.pop_back();
  }

  PathfinderRule rule_;
  Random random_;
  double margin_;
  std::vector<Path> paths_;
};

void check_rule(const PathfinderRule& rule) {
  const auto need = [](bool good, std::string_view field, auto value, std::string_view what) {
    if (!good) throw Error(fmt::format("[pathfinder.{}] must be {}: {}", field, what, value));
  };
  need(rule.size >= 16 && rule.size <= 1024, "size", rule.size, "from 16 to 1024");
  need(rule.path_dashes >= 1, "path_dashes", rule.path_dashes, "at least 1");
  need(rule.distractor_dashes >= 1, "distractor_dashes", rule.distractor_dashes, "at least 1");
  need(rule.distractors >= 0, "distractors", rule.distractors, "at least 0");
  need(rule.dash > 0, "dash", rule.dash, "above 0");
  need(rule.thickness > 0, "thickness", rule.thickness, "above 0");
  need(rule.margin >= 1 && rule.margin_most >= rule.margin, "margin", rule.margin,
       "at least 1 and at most margin_most");
  need(rule.continuity >= 0.5, "continuity", rule.continuity, "at least 0.5");
  need(rule.contrast > 0, "contrast", rule.contrast, "above 0");
}

// Brightens the pixels of a box by the share of their points that `covers` says are covered.
template <class Covers>
void draw(int size, Point low, Point high, double brightness, const Covers& covers,
          std::span<uint8_t> pixels) {
  const auto clip = [&](double v) {
    return std::clamp(static_cast<int>(std::floor(v)), 0, size - 1);
  };
  for (int y = clip(low.y); y <= clip(high.y); ++y) {
    for (int x = clip(low.x); x <= clip(high.x); ++x) {
      int points = 0;
      for (int i = 0; i < kGrid * kGrid; ++i)
        points += covers(Point{x + (i % kGrid + 0.5) / kGrid, y + (i / kGrid + 0.5) / kGrid});
      const double value = 255 * std::min(1.0, brightness * points / (kGrid * kGrid));
      uint8_t& pixel = pixels[static_cast<size_t>(y * size + x)];
      pixel = std::max(pixel, static_cast<uint8_t>(std::lround(value)));
    }
  }
}

void draw_dash(const PathfinderRule& rule, const Dash& dash, std::span<uint8_t> pixels) {
  const double half = rule.thickness / 2;
  const Point low{std::min(dash.from.x, dash.to.x) - half, std::min(dash.from.y, dash.to.y) - half};
  const Point high{std::max(dash.from.x, dash.to.x) + half,
                   std::max(dash.from.y, dash.to.y) + half};
  const double x = (dash.to.x - dash.from.x) / rule.dash, y = (dash.to.y - dash.from.y) / rule.dash;
  // Along the dash and across it.
  const auto covers = [&](Point p) {
    const double dx = p.x - dash.from.x, dy = p.y - dash.from.y;
    const double along = dx * x + dy * y, across = dy * x - dx * y;
    return along >= 0 && along <= rule.dash && std::abs(across) <= half;
  };
  draw(rule.size, low, high, rule.contrast, covers, pixels);
}

}  // namespace

PathfinderRule pathfinder_rule(int size, int path_dashes) {
  if (path_dashes < 3)
    throw Error(fmt::format("[pathfinder.path_dashes] must be at least 3: {}", path_dashes));
  PathfinderRule rule;
  rule.path_dashes = path_dashes;
  rule.distractor_dashes = path_dashes / 3;
  rule.size = size;
  int distractor_dashes_in_all = 20;
  if (size == 64 || size == 128) {
    const bool large = size == 128;
    rule.dash = 5;
    rule.thickness = large ? 1.5 : 1;
    rule.margin = large ? 2 : 1;
    rule.margin_most = large ? 3 : 1;
    rule.continuity = 1.8;
    rule.seed_distance = large ? 20 : 12;
    rule.dot_radius = large ? 3 : 2.5;
    rule.contrast = large ? 0.9 : 0.8;
    distractor_dashes_in_all = large ? 35 : 22;
  } else if (size != 32) {
    throw Error(fmt::format("[pathfinder.size] must be 32, 64 or 128: {}", size));
  }
  rule.distractors = distractor_dashes_in_all / rule.distractor_dashes;
  return rule;
}

PathfinderScene pathfinder_scene(const PathfinderRule& rule, uint64_t seed, int64_t row) {
  check_rule(rule);
  LINNET_ASSERT(row >= 0 && row < (int64_t{1} << 31));
  PathfinderScene scene = SceneMaker(rule, seed, row).make();
  // A stream of its own, so that nothing in the scene can depend on the label.
  const auto pair = static_cast<uint64_t>(row / 2);
  const uint32_t coin = philox(seed, kStream | 0x80000000, pair)[0];
  scene.label = static_cast<int>((coin ^ static_cast<uint32_t>(row)) & 1);
  const size_t start = philox(seed, kStream | 0x80000001, static_cast<uint64_t>(row))[0] & 1;
  const size_t end = scene.label == 1 ? start : 1 - start;
  scene.dots = {scene.paths[start].front().from, scene.paths[end].back().to};
  return scene;
}

void draw_pathfinder(const PathfinderRule& rule, const PathfinderScene& scene,
                     std::span<uint8_t> pixels) {
  LINNET_ASSERT(pixels.size() == static_cast<size_t>(rule.size) * static_cast<size_t>(rule.size));
  std::ranges::fill(pixels, uint8_t{0});
  for (const auto& path : scene.paths)
    for (const Dash& dash : path) draw_dash(rule, dash, pixels);
  for (const auto& path : scene.distractors)
    for (const Dash& dash : path) draw_dash(rule, dash, pixels);
  const double r = rule.dot_radius;
  for (const Point dot : scene.dots) {
    const auto covers = [&](Point p) { return std::hypot(p.x - dot.x, p.y - dot.y) <= r; };
    draw(rule.size, {dot.x - r, dot.y - r}, {dot.x + r, dot.y + r}, 1.0, covers, pixels);
  }
}

}  // namespace linnet
