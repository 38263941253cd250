// sparse_test.cpp -- kinds that see few keys: patterns small enough to bite everywhere, and
// sequences of many tiles.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mixers/pattern.h"
#include "tests/mixers/driver.h"

namespace linnet {
namespace {

template <Pattern kPattern>
Mixer pattern_mixer() {
  Mixer mixer = find_mixer("window");
  using Shared = PatternMixer<kPattern>;
  mixer.emit = Shared::emit;
  mixer.emit_backward = Shared::emit_backward;
  mixer.flops = Shared::flops;
  mixer.reference = Shared::reference;
  return mixer;
}

void expect_reference(MixerDriver& driver, int64_t T, int64_t chunk) {
  const MixerInputs in(T, driver.plan.width, 10);
  const std::vector<Complex> exact = driver.reference(driver.input(in), T);
  const std::vector<float> y = driver.forward(in, chunks_of(T, chunk));
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_NEAR(y[i], exact[i].real(), 5e-6 * (1 + std::abs(exact[i].real())))
        << driver.kind.name() << " T=" << T << " chunks of " << chunk << " at " << i;
  }
}

void expect_gradient(MixerDriver& driver, int64_t T, int64_t chunk) {
  const MixerInputs in(T, driver.plan.width, 20);
  const std::vector<float> dy = random_floats(T * driver.plan.width, 30);
  check_gradients([&](const std::vector<Complex>& x) { return driver.reference(x, T); },
                  driver.input(in), dy, driver.parts(T),
                  driver.gradient(in, chunks_of(T, chunk), dy), {.relative = 1e-5, .floor = 3e-6});
}

// Global tokens beside strides, strides inside the globals, a query that sees itself alone, a
// reach beyond the tile of 64 queries, more globals than a tile has queries.
TEST(Sparse, AnyPatternEqualsItsReference) {
  const std::vector<Mixer> kinds = {
      pattern_mixer<Pattern{.reach = 3, .globals = 2, .stride = 0}>(),
      pattern_mixer<Pattern{.reach = 0, .globals = 0, .stride = 0}>(),
      pattern_mixer<Pattern{.reach = 4, .globals = 9, .stride = 5}>(),
      pattern_mixer<Pattern{.reach = 70, .globals = 0, .stride = 3}>(),
      pattern_mixer<Pattern{.reach = 1, .globals = 80, .stride = 1}>(),
  };
  for (const Mixer& mixer : kinds) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(testing::Message() << "pattern " << &mixer - kinds.data());
      MixerDriver driver({&mixer, "", causal}, 2, 3);
      for (const int64_t T : {1, 2, 6, 64, 65, 150}) {
        for (const int64_t chunk : {int64_t{1}, int64_t{7}, int64_t{128}, int64_t{0}}) {
          expect_reference(driver, T, chunk);
        }
      }
      expect_gradient(driver, 100, 37);
    }
  }
}

// Lists of more than one tile of 384 tokens, strides far away on both sides, 64 buckets.
TEST(Sparse, LongSequencesEqualTheReference) {
  for (const MixerKind& kind : mixer_kinds()) {
    if (kind.mixer->name != "window" && kind.mixer->name != "strided" &&
        kind.mixer->name != "reformer")
      continue;
    MixerDriver driver(kind, 2, 3);
    expect_reference(driver, 2500, 128);
  }
}

// A global query sees 450 tokens, more than a tile of 384; the others so few that it is quick.
TEST(Sparse, GradientsOverMoreThanOneTile) {
  const Mixer mixer = pattern_mixer<Pattern{.reach = 2, .globals = 1, .stride = 0}>();
  MixerDriver driver({&mixer, "", false}, 1, 3);
  expect_gradient(driver, 450, 128);
}

// What query i answers depends on the keys of its pattern and on no other.
TEST(Sparse, OnlyThePatternIsSeen) {
  constexpr int64_t kT = 400, kC = 8;
  struct Case {
    const char* name;
    Pattern pattern;
  };
  for (const Case& c : {Case{"window", {.reach = 128, .globals = 1, .stride = 0}},
                        Case{"strided", {.reach = 127, .globals = 0, .stride = 128}}}) {
    for (const bool causal : {false, true}) {
      MixerDriver driver({&find_mixer(c.name), "", causal}, 1, kC);
      const MixerInputs in(kT, kC, 40);
      const std::vector<float> y = driver.forward(in, chunks_of(kT, 128));
      for (const int64_t j : {0, 1, 126, 127, 128, 200, 255, 399}) {
        MixerInputs other = in;
        for (int64_t d = 0; d < kC; ++d) other.v[static_cast<size_t>(j * kC + d)] += 1;
        const std::vector<float> changed = driver.forward(other, chunks_of(kT, 128));
        for (int64_t i = 0; i < kT; ++i) {
          const auto at = static_cast<size_t>(i * kC);
          const bool seen = c.pattern.sees(i, j) && (!causal || j <= i);
          EXPECT_EQ(changed[at] != y[at], seen)
              << c.name << " causal=" << causal << " query " << i << " key " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace linnet
