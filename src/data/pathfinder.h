// pathfinder.h -- Pathfinder and Path-X: are two dots on the same dashed path?
//
// The task of the Long Range Arena (Tay et al., ICLR 2021) after Linsley et al., "Learning
// long-range spatial dependencies with horizontal gated recurrent units", 2018: an image with two
// long paths of dashes, shorter ones that distract, and two dots, each at an end of a long path.
// Label 1: both dots are on one path.
//
// Alike with the public generator (github.com/drewlinsley/pathfinder, snakes.py and snakes2.py) and
// LRA's settings for it (lra_benchmarks/data/pathfinder.py): the sizes, lengths, gaps, clearances,
// contrasts and numbers below; the first path starts near the middle, the second one seed_distance
// from it, and both grow dash by dash in turns; between dashes a path turns by d with probability
// proportional to cos^2(continuity d), |d| <= 90 degrees / continuity; no two dashes come closer
// than two margins, but neighbours of one path; one dot is where a path starts, the other where
// this path ends, or the other; a distracting path that finds no place is left out.
// Not alike: coordinates are rounded to pixels there and real numbers here; lines are drawn by
// counting 8 x 8 points in a pixel, not by Pillow and a Lanczos filter; a path that cannot go on
// goes back some dashes, there all is begun anew; labels are exactly balanced, there drawn. So the
// images look the same and are no copies.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace linnet {

// Lengths in pixels.
struct PathfinderRule {
  int size = 32;         // width and height
  int path_dashes = 14;  // of the two long paths
  int distractor_dashes = 4;
  int distractors = 5;  // at most
  double dash = 2;      // length of a dash
  double thickness = 0.5;
  int margin = 1, margin_most = 1;  // half a gap; drawn from these for each image
  double continuity = 1.0;          // larger: straighter paths
  double padding = 1;               // nothing is drawn so near to the border
  double seed_distance = 7;         // between the starts of the long paths
  double dot_radius = 1.5;
  double contrast = 1.5;  // brightness of a wholly covered pixel, 1 = 255, cut there
};

// LRA's settings for size 32 (Pathfinder32), 64 and 128 (Path-X): path_dashes 14 is LRA's task and
// its hard level, 9 and 6 are the others. Another size, or fewer than 3 dashes, is an Error.
PathfinderRule pathfinder_rule(int size, int path_dashes = 14);

struct PathfinderScene {
  struct Point {
    double x, y;
  };
  struct Dash {
    Point from, to;
  };
  std::array<std::vector<Dash>, 2> paths;
  std::vector<std::vector<Dash>> distractors;
  std::array<Point, 2> dots{};  // the first is where a path starts
  int label = 0;
};

// Row `row` of the data with this seed: the same on any thread and in any order (another C library
// may have other last bits of sines, and so here and there another image). Of the rows 2 k and 2 k
// + 1 one has label 1. An impossible rule is an Error, and so is one whose paths never find a
// place.
PathfinderScene pathfinder_scene(const PathfinderRule& rule, uint64_t seed, int64_t row);

// size * size grey pixels, row by row, 0 is black.
void draw_pathfinder(const PathfinderRule& rule, const PathfinderScene& scene,
                     std::span<uint8_t> pixels);

}  // namespace linnet
