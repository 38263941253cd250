// stream_test.cpp -- streaming, exact causality, merging and folding of every mixer.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/mixers/driver.h"

namespace linnet {
namespace {

void expect_near(const std::vector<float>& a, const std::vector<float>& b, double allowed,
                 const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], allowed * (1 + std::abs(b[i]))) << what << " at " << i;
  }
}

TEST(Stream, OneByOneEqualsTheBatch) {
  for (const MixerKind& kind : mixer_kinds()) {
    if (!kind.causal) continue;
    MixerDriver driver(kind, 2, 8);
    for (const int64_t T : {1, 2, 40, 270}) {
      const MixerInputs in(T, 16, 1);
      const std::vector<float> batch = driver.forward(in, chunks_of(T, 128));
      expect_near(driver.forward(in, chunks_of(T, 1)), batch, 5e-6, kind.name());
      // A prompt in chunks, then token by token: what a serving session does.
      std::vector<int64_t> session = chunks_of(T / 2, 16);
      session.insert(session.end(), static_cast<size_t>(T - T / 2), 1);
      expect_near(driver.forward(in, session), batch, 5e-6, kind.name());
    }
  }
}

// y_0 .. y_i are the same bits whatever comes after token i.
TEST(Stream, NothingIsSeenBeforeItComes) {
  for (const MixerKind& kind : mixer_kinds()) {
    if (!kind.causal) continue;
    MixerDriver driver(kind, 2, 8);
    constexpr int64_t kT = 50, kC = 16;
    const MixerInputs in(kT, kC, 2);
    for (const int64_t size : {1, 7, 16, 50}) {
      const std::vector<float> y = driver.forward(in, chunks_of(kT, size));
      for (const int64_t last : {0, 1, 6, 7, 15, 16, 31, 48}) {
        // Large and of any sign: a masked score must not raise the maximum either.
        MixerInputs other(kT, kC, 3, 30);
        const auto same = static_cast<int64_t>((last + 1) * kC);
        std::copy_n(in.q.begin(), same, other.q.begin());
        std::copy_n(in.k.begin(), same, other.k.begin());
        std::copy_n(in.v.begin(), same, other.v.begin());
        const std::vector<float> changed = driver.forward(other, chunks_of(kT, size));
        for (int64_t i = 0; i < same; ++i) {
          ASSERT_EQ(changed[static_cast<size_t>(i)], y[static_cast<size_t>(i)])
              << kind.name() << ": token " << i / kC << " sees beyond " << last << ", chunks of "
              << size;
        }
        // And it does change what may change.
        EXPECT_NE(changed.back(), y.back());
      }
    }
  }
}

// The gradient of what token i answered is zero for every later token.
TEST(Stream, GradientsOfLaterTokensAreZero) {
  for (const MixerKind& kind : mixer_kinds()) {
    if (!kind.causal) continue;
    MixerDriver driver(kind, 2, 8);
    constexpr int64_t kT = 20, kC = 16, kLast = 11;
    const MixerInputs in(kT, kC, 4);
    std::vector<float> dy = random_floats(kT * kC, 5);
    std::fill(dy.begin() + (kLast + 1) * kC, dy.end(), 0.0f);
    for (const int64_t size : {1, 8, 20}) {
      const std::vector<float> gradient = driver.gradient(in, chunks_of(kT, size), dy);
      for (int64_t i = 0; i < 3 * kT * kC; ++i) {
        if (i % (kT * kC) < (kLast + 1) * kC) continue;
        ASSERT_EQ(gradient[static_cast<size_t>(i)], 0.0f) << kind.name() << " chunks of " << size;
      }
    }
  }
}

// The state of the first tokens, from spans that were absorbed apart and merged in order.
void merge_spans(MixerDriver& driver, MixerDriver::Pass& pass, const std::vector<int64_t>& spans,
                 MixerState& whole) {
  int64_t first = 0;
  for (const int64_t tokens : spans) {
    MixerStore part(*driver.kind.mixer, driver.plan, tokens);
    for (const int64_t rows : chunks_of(tokens, 16)) {
      driver.absorb(pass, first, rows, part.state);
      first += rows;
    }
    driver.kind.mixer->merge(driver.plan, part.state, whole);
  }
}

TEST(Merge, SpansApartEqualAllAtOnce) {
  constexpr int64_t kAbsorbed = 75, kC = 16;
  for (const MixerKind& kind : mixer_kinds()) {
    MixerDriver driver(kind, 2, 8);
    // A causal kind answers the tokens that follow the state, another all of them.
    const int64_t T = kind.causal ? kAbsorbed + 15 : kAbsorbed, first = kind.causal ? kAbsorbed : 0;
    const MixerInputs in(T, kC, 6);
    const auto answer = [&](const std::vector<int64_t>& spans) {
      MixerDriver::Pass pass(driver, in);
      MixerStore store(*kind.mixer, driver.plan, T);
      if (spans.empty()) {
        for (int64_t at = 0; at < kAbsorbed; at += 16) {
          driver.absorb(pass, at, std::min<int64_t>(16, kAbsorbed - at), store.state);
        }
      } else {
        merge_spans(driver, pass, spans, store.state);
      }
      EXPECT_EQ(store.state.count, kAbsorbed) << kind.name();
      driver.finish(store.state);
      driver.prepare(pass, first, T - first);
      driver.emit(pass, first, T - first, store.state);
      const std::vector<float> y = pass.y.values(T);
      return std::vector<float>(y.begin() + first * kC, y.end());
    };
    const std::vector<float> whole = answer({});
    const std::vector<std::vector<int64_t>> cuts = {{75},         {40, 35}, {1, 74},
                                                    {17, 30, 28}, {74, 1},  {0, 75, 0}};
    for (const std::vector<int64_t>& spans : cuts) {
      if (kind.mixer->grows) {
        EXPECT_EQ(answer(spans), whole) << kind.name();
      } else {
        expect_near(answer(spans), whole, 3e-6, kind.name());
      }
    }
  }
}

// A session that is stored and resumed is one that never stopped.
TEST(Stream, AStoredStateGoesOnWhereItWas) {
  constexpr int64_t kT = 40, kC = 16;
  for (const MixerKind& kind : mixer_kinds()) {
    if (!kind.causal) continue;
    MixerDriver driver(kind, 2, 8);
    const MixerInputs in(kT, kC, 7);
    MixerDriver::Pass pass(driver, in);
    // Before each chunk the state moves to another place, as its data and its count.
    std::vector<MixerStore> places;
    places.reserve(6);
    places.emplace_back(*kind.mixer, driver.plan, kT);
    for (int64_t first = 0; first < kT; first += 8) {
      places.push_back(places.back());
      driver.prepare(pass, first, 8);
      driver.emit(pass, first, 8, places.back().state);
      driver.absorb(pass, first, 8, places.back().state);
    }
    EXPECT_EQ(pass.y.values(kT), driver.forward(in, chunks_of(kT, 8))) << kind.name();
  }
}

// Equal tokens have one answer, that of the first, however many there are: sums of fixed size must
// not drift away from each other. Thousands of additions onto one float are off by 1e-4. A kind
// that counts has the answer of its definition; a float that is to lose a share e of itself a token
// comes to rest within 2^-24 / e of its value: 9e-5 at a half-life of 1024.
TEST(Stream, LongSumsDoNotDrift) {
  constexpr int64_t kT = 16384, kChunk = 128, kC = 4;
  for (const MixerKind& kind : mixer_kinds()) {
    if (kind.mixer->grows || kind.mixer->bounded || (kind.mixer->finish && !kind.causal)) continue;
    MixerDriver driver(kind, 1, kC);
    const auto equal = [](int64_t tokens) {
      MixerInputs in(tokens, kC, 10);
      for (std::vector<float>* x : {&in.q, &in.k, &in.v}) {
        for (size_t i = kC; i < x->size(); ++i) (*x)[i] = (*x)[i - kC];
      }
      return in;
    };
    const int64_t tokens = kind.mixer->counts ? kT + kChunk : 1;
    const std::vector<Complex> exact = driver.reference(driver.input(equal(tokens)), tokens);
    const MixerInputs in = equal(kChunk);
    MixerDriver::Pass pass(driver, in);
    MixerStore store(*kind.mixer, driver.plan, kT);
    for (int64_t t = 0; t < kT; t += kChunk) driver.absorb(pass, 0, kChunk, store.state);
    // A causal kind counts by the place of the chunk: here it follows the others.
    MixerChunk chunk = driver.chunk(pass, 0, kChunk);
    chunk.first = kT;
    kind.mixer->emit(driver.run(), chunk, store.state, pass.saved.at(0), pass.y.at(0));
    const std::vector<float> y = pass.y.values(kChunk);
    double largest = 0;
    for (const Complex& value : exact) largest = std::max(largest, std::abs(value.real()));
    for (size_t i = 0; i < y.size(); ++i) {
      const bool counts = kind.mixer->counts;
      const double one = exact[counts ? static_cast<size_t>(kT * kC) + i : i % kC].real();
      ASSERT_NEAR(y[i], one, counts ? 9e-5 * largest : 2e-5 * std::abs(one)) << kind.name();
    }
  }
}

// A mixer may keep more for a backward, but answers the same bits.
TEST(Stream, KeepingForABackwardChangesNothing) {
  for (const MixerKind& kind : mixer_kinds()) {
    MixerDriver driver(kind, 2, 8);
    const MixerInputs in(40, 16, 9);
    const std::vector<float> y = driver.forward(in, chunks_of(40, 16));
    driver.keep = true;
    EXPECT_EQ(driver.forward(in, chunks_of(40, 16)), y) << kind.name();
  }
}

// At inference the first product of phi is in the projections already: q and k hold it.
TEST(Fold, FoldedInputsGiveTheSameAnswer) {
  constexpr int64_t kT = 20, kC = 16;
  for (const MixerKind& kind : mixer_kinds()) {
    MixerDriver driver(kind, 2, 8);
    if (!driver.plan.phi.folds()) continue;
    MixerInputs in(kT, kC, 8);
    const std::vector<float> y = driver.forward(in, chunks_of(kT, 6));
    // fold multiplies rows of C numbers by phi's matrices: here the rows of q and k.
    std::vector<float> no_bias(kC);
    chain_fold(driver.plan.phi, driver.params.data(), kT, in.q.data(), no_bias.data());
    chain_fold(driver.plan.phi, driver.params.data(), kT, in.k.data(), no_bias.data());
    driver.folded = true;
    expect_near(driver.forward(in, chunks_of(kT, 6)), y, 3e-6, kind.name());
  }
}

}  // namespace
}  // namespace linnet
