// mixers_test.cpp -- every mixer against its reference: values, gradients, dropout.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/mixers/driver.h"

namespace linnet {
namespace {

TEST(Mixers, RecordsAreComplete) {
  ASSERT_FALSE(mixers().empty());
  std::set<std::string_view> names;
  for (const Mixer* mixer : mixers()) {
    ASSERT_NE(mixer, nullptr);
    EXPECT_FALSE(mixer->name.empty() || mixer->formula.empty() || mixer->summary.empty() ||
                 mixer->cost.empty() || mixer->state.empty())
        << mixer->name;
    EXPECT_TRUE(names.insert(mixer->name).second) << mixer->name << " twice";
    EXPECT_EQ(&find_mixer(mixer->name), mixer);
    EXPECT_TRUE(mixer->build && mixer->state_floats && mixer->saved_floats && mixer->absorb &&
                mixer->merge && mixer->emit && mixer->emit_backward && mixer->absorb_backward &&
                mixer->flops && mixer->reference)
        << mixer->name << " has a hole";
    EXPECT_EQ(mixer->prepare == nullptr, mixer->prepare_backward == nullptr) << mixer->name;
    EXPECT_TRUE(mixer->uses_k || !mixer->prepare) << mixer->name;
  }
  EXPECT_THROW(find_mixer("no such mixer"), Error);
}

TEST(Mixers, TheStateGrowsOnlyWhereTheRecordSaysSo) {
  for (const MixerKind& kind : mixer_kinds()) {
    MixerDriver driver(kind, 2, 8);
    const int64_t small = kind.mixer->state_floats(driver.plan, 100);
    const int64_t large = kind.mixer->state_floats(driver.plan, 10000);
    EXPECT_GT(small, 0) << kind.name();
    if (kind.mixer->finish && !kind.causal) continue;  // may keep all tokens until it finishes
    EXPECT_EQ(large > small, kind.mixer->grows) << kind.name();
    const MixerFlops flops = kind.mixer->flops(driver.plan, 1000);
    EXPECT_GE(std::min(flops.absorb, flops.emit), 0) << kind.name();
    EXPECT_GT(flops.absorb + flops.emit, 0) << kind.name();
  }
}

struct Heads {
  int64_t count, size;
};

TEST(Mixers, ForwardEqualsTheReferenceInAnyChunks) {
  for (const MixerKind& kind : mixer_kinds()) {
    for (const Heads heads : {Heads{1, 2}, Heads{2, 3}, Heads{1, 16}, Heads{3, 5}, Heads{2, 20}}) {
      MixerDriver driver(kind, heads.count, heads.size);
      for (const int64_t T : {1, 2, 7, 33, 150, 300}) {
        if (T == 300 && heads.count * heads.size > 6) continue;
        const MixerInputs in(T, driver.plan.width, 10);
        const std::vector<Complex> exact = driver.reference(driver.input(in), T);
        for (const int64_t size : {int64_t{1}, int64_t{5}, int64_t{128}, int64_t{0}, T}) {
          const std::vector<float> y = driver.forward(in, chunks_of(T, size));
          for (size_t i = 0; i < y.size(); ++i) {
            ASSERT_NEAR(y[i], exact[i].real(), 5e-6 * (1 + std::abs(exact[i].real())))
                << kind.name() << " T=" << T << " D=" << heads.size << " chunks of " << size;
          }
        }
      }
    }
  }
}

void check_mixer_gradient(MixerDriver& driver, int64_t T, int64_t chunk, double scale) {
  SCOPED_TRACE(testing::Message() << driver.kind.name() << " T=" << T << " D=" << driver.plan.head
                                  << " chunks of " << chunk << " scale " << scale);
  const MixerInputs in(T, driver.plan.width, 20, scale);
  const std::vector<float> dy = random_floats(T * driver.plan.width, 30);
  const std::vector<float> gradient = driver.gradient(in, chunks_of(T, chunk), dy);
  check_gradients([&](const std::vector<Complex>& x) { return driver.reference(x, T); },
                  driver.input(in), dy, driver.parts(T), gradient,
                  // One token attends to itself whatever phi says: q's and k's derivatives are
                  // differences of two equal terms, and what is left is their rounding.
                  // Fewer coordinates one by one where the reference is slow.
                  {.relative = 1e-5,
                   .floor = (T == 1 ? 3e-5 : 5e-6) * scale,
                   .coordinates = T > 100 ? 15 : 40});
}

TEST(Mixers, GradientsOfShortSequencesAreTheComplexStepDerivative) {
  for (const MixerKind& kind : mixer_kinds()) {
    for (const Heads heads : {Heads{2, 3}, Heads{1, 17}, Heads{3, 8}}) {
      for (const double scale : {0.25, 1.0, 4.0}) {
        MixerDriver driver(kind, heads.count, heads.size);
        check_mixer_gradient(driver, 1, 1, scale);
        check_mixer_gradient(driver, 7, 7, scale);
        check_mixer_gradient(driver, 7, 1, scale);
        check_mixer_gradient(driver, 7, 3, scale);
      }
    }
  }
}

// Across the chunk of 128 tokens that models use, and across a tile of 256 keys.
TEST(Mixers, GradientsOfLongSequencesAreTheComplexStepDerivative) {
  for (const MixerKind& kind : mixer_kinds()) {
    for (const double scale : {0.25, 1.0, 4.0}) {
      MixerDriver driver(kind, 2, 3);
      check_mixer_gradient(driver, 140, 128, scale);
    }
    MixerDriver driver(kind, 1, 4);
    check_mixer_gradient(driver, 300, 128, 1);
  }
}

// Every coordinate, at a size where the reference would take too long.
TEST(Mixers, GradientsDoNotDependOnTheChunks) {
  for (const MixerKind& kind : mixer_kinds()) {
    MixerDriver driver(kind, 2, 20);
    for (const int64_t T : {33, 300}) {
      const MixerInputs in(T, 40, 40);
      const std::vector<float> dy = random_floats(T * 40, 41);
      const std::vector<float> whole = driver.gradient(in, {T}, dy);
      float largest = 0;
      for (const float g : whole) largest = std::max(largest, std::abs(g));
      for (const int64_t size : {1, 5, 128, 0}) {
        const std::vector<float> parts = driver.gradient(in, chunks_of(T, size), dy);
        for (size_t i = 0; i < parts.size(); ++i) {
          ASSERT_NEAR(parts[i], whole[i], 2e-6 * largest + 1e-5 * std::abs(whole[i]))
              << kind.name() << " T=" << T << " chunks of " << size << " at " << i;
        }
      }
    }
  }
}

TEST(Mixers, ExtremeInputsStayFinite) {
  for (const MixerKind& kind : mixer_kinds()) {
    MixerDriver driver(kind, 2, 8);
    for (const double scale : {0.0, 1e-20, 1e4}) {
      for (const int64_t T : {1, 20}) {
        const MixerInputs in(T, 16, 50, scale);
        const std::vector<float> dy = random_floats(T * 16, 51);
        for (const float value : driver.forward(in, chunks_of(T, 8))) {
          ASSERT_TRUE(std::isfinite(value)) << kind.name() << " scale " << scale;
          if (kind.mixer->averages) {
            ASSERT_LE(std::abs(value), 6 * scale) << kind.name() << ": beyond every value";
          }
        }
        for (const float value : driver.gradient(in, chunks_of(T, 8), dy)) {
          ASSERT_TRUE(std::isfinite(value)) << kind.name() << " scale " << scale;
        }
      }
    }
  }
}

// Dropped inputs of phi have a gradient of exactly zero, which shows the masks; with them the
// reference must give the same output and gradient. Kinds without a phi have nothing to drop.
TEST(Mixers, DropoutHasOneMaskForwardAndBackward) {
  constexpr int64_t kT = 9, kC = 16;
  int checked = 0;
  for (const MixerKind& kind : mixer_kinds()) {
    MixerDriver driver(kind, 2, 8);
    const MixerInputs in(kT, kC, 60);
    const std::vector<float> dy = random_floats(kT * kC, 61);
    const std::vector<float> plain = driver.forward(in, {kT});
    driver.dropout = 0.3f;
    driver.dropout_key = 1234;
    const std::vector<float> y = driver.forward(in, {kT}), gradient = driver.gradient(in, {kT}, dy);
    EXPECT_EQ(y != plain, kind.mixer->uses_feature) << kind.name();
    EXPECT_EQ(driver.forward(in, {kT}), y) << kind.name();
    for (const int64_t size : {1, 4}) {
      const std::vector<float> parts = driver.forward(in, chunks_of(kT, size));
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(parts[i], y[i], 1e-5) << kind.name();
    }
    if (!kind.mixer->uses_feature) continue;

    std::vector<double> mask(driver.input(in).size(), 1.0);
    int64_t dropped = 0;
    for (size_t i = 0; i < 2 * kT * kC; ++i) {
      mask[i] = gradient[i] == 0 ? 0 : 1 / 0.7;
      dropped += gradient[i] == 0;
    }
    // Where phi itself is flat or vanishes, a gradient of zero does not tell a dropped input.
    const double share = static_cast<double>(dropped) / (2 * kT * kC);
    if (std::abs(share - 0.3) > 0.11 || kind.phi.starts_with("relu")) continue;
    ++checked;
    const auto masked = [&](std::vector<Complex> x) {
      for (size_t i = 0; i < x.size(); ++i) x[i] *= mask[i];
      return driver.reference(x, kT);
    };
    const std::vector<Complex> exact = masked(driver.input(in));
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], exact[i].real(), 1e-5) << kind.name();
    SCOPED_TRACE(kind.name());
    check_gradients(masked, driver.input(in), dy, driver.parts(kT), gradient,
                    {.relative = 1e-5, .floor = 3e-6});
    driver.dropout_key = 1235;
    EXPECT_NE(driver.forward(in, {kT}), y) << kind.name();
  }
  EXPECT_GT(checked, 20);
}

}  // namespace
}  // namespace linnet
