// driver.h -- runs any mixer over whole sequences, chunk by chunk, both ways.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "layers/linear.h"
#include "mixers/mixer.h"
#include "tests/gradient_check.h"

namespace linnet {

// What the tests loop over: mixers() x phis where it takes one x the directions that it can.
struct MixerKind {
  const Mixer* mixer;
  std::string phi;
  bool causal;
  std::string name() const {
    return fmt::format("{}{}{} {}", mixer->name, phi.empty() ? "" : "/", phi,
                       causal ? "causal" : "bidirectional");
  }
};

// Every stage that can stand alone, and chains.
inline std::vector<std::string> test_phis() {
  std::vector<std::string> texts;
  for (const Feature* feature : features()) {
    if (feature->positive) texts.emplace_back(feature->name);
  }
  for (const char* chain : {"2xglu", "3xaoglu", "linear>norm>linear>gelu"})
    texts.emplace_back(chain);
  return texts;
}

inline std::vector<MixerKind> mixer_kinds() {
  std::vector<MixerKind> kinds;
  for (const Mixer* mixer : mixers()) {
    for (const bool causal : {false, true}) {
      if (causal && !mixer->causal) continue;
      if (!mixer->uses_feature || !mixer->phi.empty()) {
        kinds.push_back({mixer, std::string(mixer->phi), causal});
        continue;
      }
      // Every phi once; the other kinds differ from the first in what comes after it.
      const bool first = mixer == mixers().front();
      for (const std::string& phi : first ? test_phis() : std::vector<std::string>{"2xglu", "relu"})
        kinds.push_back({mixer, phi, causal});
    }
  }
  return kinds;
}

// Rows with NaN in the gaps between them, and no gap after the last: who reads there is found out.
class Rows {
 public:
  Rows(int64_t rows, int64_t cols)
      : cols_(cols),
        ld_(leading_dim(cols)),
        data_(static_cast<size_t>(rows > 0 ? (rows - 1) * ld_ + cols : 0), NAN) {}
  Rows(const std::vector<float>& values, int64_t cols)
      : Rows(static_cast<int64_t>(values.size()) / std::max<int64_t>(cols, 1), cols) {
    for (size_t i = 0; i < values.size(); ++i) data_[place(i)] = values[i];
  }
  Mat at(int64_t row) { return cols_ ? Mat{data_.data() + row * ld_, ld_} : Mat{}; }
  std::vector<float> values(int64_t rows) const {
    std::vector<float> flat(static_cast<size_t>(rows * cols_));
    for (size_t i = 0; i < flat.size(); ++i) flat[i] = data_[place(i)];
    return flat;
  }

 private:
  size_t place(size_t i) const {
    const auto cols = static_cast<size_t>(cols_);
    return i / cols * static_cast<size_t>(ld_) + i % cols;
  }
  int64_t cols_, ld_;
  std::vector<float> data_;
};

// q, k, v [T, C] without gaps.
struct MixerInputs {
  int64_t T;
  std::vector<float> q, k, v;
  MixerInputs(int64_t tokens, int64_t width, uint64_t seed, double scale = 1)
      : T(tokens),
        q(random_floats(T * width, seed, scale)),
        k(random_floats(T * width, seed + 1, scale)),
        v(random_floats(T * width, seed + 2, scale)) {}
};

// T tokens in chunks of `size`, or of 1, 2, 3, ... for size = 0.
inline std::vector<int64_t> chunks_of(int64_t T, int64_t size) {
  std::vector<int64_t> chunks;
  for (int64_t left = T, next = 1; left > 0; ++next) {
    chunks.push_back(std::min(left, size > 0 ? size : next));
    left -= chunks.back();
  }
  return chunks;
}

// A state and its memory.
struct MixerStore {
  std::vector<float> data;
  MixerState state;
  MixerStore(const Mixer& mixer, const MixerPlan& plan, int64_t T)
      : data(static_cast<size_t>(mixer.state_floats(plan, T))), state{data.data(), 0, T} {}
  MixerStore(const MixerStore& other)
      : data(other.data), state{data.data(), other.state.count, other.state.capacity} {}
  MixerStore& operator=(const MixerStore&) = delete;
};

class MixerDriver {
 public:
  MixerDriver(const MixerKind& which, int64_t heads, int64_t head) : kind(which) {
    plan.width = heads * head;
    plan.heads = heads;
    plan.head = head;
    plan.causal = kind.causal;
    plan.phi_text = kind.phi;
    plan.length = 300;  // the longest of the tests
    layout.add("before", {3}, Init::ones, 0.0f, false);
    kind.mixer->build(layout, "mix", plan);
    params = Block(layout.floats());
    layout.initialise(1, params.data());
    packed = Block(layout.packed_floats());
    packed_transposed = Block(layout.packed_floats());
    layout.pack(context, params.data(), packed.data(), packed_transposed.data());
    weights = {params.data(), packed.data(), packed_transposed.data()};
  }

  MixerRun run() {
    return {.plan = plan,
            .weights = weights,
            .scratch = scratch,
            .folded = folded,
            .keep = keep,
            .dropout = dropout,
            .dropout_key = dropout_key};
  }

  // The rows of one sequence that a model would hold.
  struct Pass {
    int64_t T;
    Rows q, k, v, keys, saved, y;
    Pass(const MixerDriver& d, const MixerInputs& in)
        : T(in.T),
          q(in.q, d.plan.width),
          k(in.k, d.plan.width),
          v(in.v, d.plan.width),
          keys(T, d.kind.mixer->prepare ? d.plan.key_width : 0),
          saved(T, d.kind.mixer->saved_floats(d.plan)),
          y(T, d.plan.width) {}
  };

  MixerChunk chunk(Pass& pass, int64_t first, int64_t rows) const {
    const Mixer& mixer = *kind.mixer;
    MixerChunk c{.rows = rows, .first = first, .q = {}, .k = {}, .v = pass.v.at(first), .keys = {}};
    if (mixer.uses_q) c.q = pass.q.at(first);
    if (mixer.uses_k) c.k = pass.k.at(first);
    c.keys = mixer.prepare ? ConstMat(pass.keys.at(first)) : c.k;
    return c;
  }

  // Each for tokens [first, first + rows); absorb prepares them too.
  void prepare(Pass& pass, int64_t first, int64_t rows) {
    if (kind.mixer->prepare == nullptr) return;
    kind.mixer->prepare(run(), chunk(pass, first, rows), pass.keys.at(first));
  }
  void absorb(Pass& pass, int64_t first, int64_t rows, MixerState& state) {
    prepare(pass, first, rows);
    kind.mixer->absorb(run(), chunk(pass, first, rows), state);
  }
  void finish(MixerState& state) {
    if (kind.mixer->finish && !plan.causal) kind.mixer->finish(run(), state);
  }
  void emit(Pass& pass, int64_t first, int64_t rows, const MixerState& state) {
    kind.mixer->emit(run(), chunk(pass, first, rows), state, pass.saved.at(first),
                     pass.y.at(first));
  }

  // y [T, C].
  std::vector<float> forward(const MixerInputs& in, const std::vector<int64_t>& chunks) {
    Pass pass(*this, in);
    std::vector<MixerStore> snapshots;
    MixerStore store(*kind.mixer, plan, in.T);
    forward(pass, chunks, store, snapshots);
    return pass.y.values(in.T);
  }

  // The flat gradient: dq, dk, dv [T, C] each, then the block of parameters.
  std::vector<float> gradient(const MixerInputs& in, const std::vector<int64_t>& chunks,
                              const std::vector<float>& dy) {
    keep = true;
    Pass pass(*this, in);
    std::vector<MixerStore> before;
    MixerStore store(*kind.mixer, plan, in.T), owed(*kind.mixer, plan, in.T);
    forward(pass, chunks, store, before);
    keep = false;

    const Mixer& mixer = *kind.mixer;
    const int64_t C = plan.width, T = in.T;
    Rows dyr(dy, C), dq(T, C), dk(T, C), dv(T, C);
    Rows dkeys(T, mixer.uses_k ? plan.key_width : 0);
    std::vector<float> grads(static_cast<size_t>(layout.floats()));
    const auto part = [&](int64_t first) {
      return MixerGrads{.dq = mixer.uses_q ? dq.at(first) : Mat{},
                        .dkeys = dkeys.at(first),
                        .dv = dv.at(first),
                        .params = grads.data()};
    };
    const auto emit_backward = [&](int64_t first, int64_t rows, const MixerState& state) {
      mixer.emit_backward(run(), chunk(pass, first, rows), state, pass.saved.at(first),
                          pass.y.at(first), dyr.at(first), owed.state, part(first));
    };
    const auto absorb_backward = [&](int64_t first, int64_t rows, const MixerState& state) {
      mixer.absorb_backward(run(), chunk(pass, first, rows), state, owed.state, part(first));
    };
    if (!plan.causal) {
      for_chunks(chunks, [&](int64_t first, int64_t rows, size_t) {
        emit_backward(first, rows, store.state);
      });
      if (mixer.finish_backward)
        mixer.finish_backward(run(), store.state, owed.state, grads.data());
      for_chunks(chunks, [&](int64_t first, int64_t rows, size_t) {
        absorb_backward(first, rows, store.state);
      });
    } else {
      int64_t first = T;
      for (size_t i = chunks.size(); i-- > 0;) {
        first -= chunks[i];
        const MixerState& state = mixer.grows ? store.state : before[i].state;
        absorb_backward(first, chunks[i], state);
        emit_backward(first, chunks[i], state);
      }
    }
    if (mixer.prepare_backward) {
      for_chunks(chunks, [&](int64_t first, int64_t rows, size_t) {
        mixer.prepare_backward(run(), chunk(pass, first, rows), dkeys.at(first), dk.at(first),
                               grads.data());
      });
    }
    std::vector<float> flat;
    const std::vector<float> none(static_cast<size_t>(T * C));
    const Rows& dk_final = mixer.prepare_backward ? dk : dkeys;
    for (const std::vector<float>& tensor :
         {mixer.uses_q ? dq.values(T) : none, mixer.uses_k ? dk_final.values(T) : none,
          dv.values(T), grads}) {
      flat.insert(flat.end(), tensor.begin(), tensor.end());
    }
    return flat;
  }

  // The same layout for the reference: q, k, v [T, C], then the parameter block.
  std::vector<Complex> input(const MixerInputs& in) const {
    std::vector<Complex> all(in.q.begin(), in.q.end());
    all.insert(all.end(), in.k.begin(), in.k.end());
    all.insert(all.end(), in.v.begin(), in.v.end());
    append(all, params.data(), layout.floats());
    return all;
  }
  std::vector<Complex> reference(const std::vector<Complex>& all, int64_t T) const {
    const int64_t n = T * plan.width;
    std::vector<Complex> y(static_cast<size_t>(n));
    const Complex* p = all.data();
    kind.mixer->reference(plan, p + 3 * n, T, p, p + n, p + 2 * n, y.data());
    return y;
  }
  std::vector<GradientPart> parts(int64_t T) const {
    const int64_t n = T * plan.width;
    std::vector<GradientPart> list = parameter_parts(layout, 3 * n);
    list.insert(list.end(), {{"q", 0, n}, {"k", n, n}, {"v", 2 * n, n}});
    return list;
  }

  MixerKind kind;
  Context context{1};
  ParamLayout layout;
  MixerPlan plan;
  Block params, packed, packed_transposed;
  Weights weights;
  Arena scratch;
  bool folded = false, keep = false;
  float dropout = 0;
  uint64_t dropout_key = 0;

 private:
  template <class F>
  static void for_chunks(const std::vector<int64_t>& chunks, const F& f) {
    int64_t first = 0;
    for (size_t i = 0; i < chunks.size(); ++i) {
      f(first, chunks[i], i);
      first += chunks[i];
    }
  }

  // Where a backward will follow, `before` receives the state before each chunk.
  void forward(Pass& pass, const std::vector<int64_t>& chunks, MixerStore& store,
               std::vector<MixerStore>& before) {
    for_chunks(chunks, [&](int64_t first, int64_t rows, size_t) {
      if (!plan.causal) return absorb(pass, first, rows, store.state);
      if (keep && !kind.mixer->grows) before.push_back(store);
      prepare(pass, first, rows);
      emit(pass, first, rows, store.state);
      kind.mixer->absorb(run(), chunk(pass, first, rows), store.state);
    });
    if (plan.causal) return;
    finish(store.state);
    for_chunks(chunks,
               [&](int64_t first, int64_t rows, size_t) { emit(pass, first, rows, store.state); });
  }
};

}  // namespace linnet
