// state.cpp -- the exact state of a trainer as one safetensors file.
//
// Tensors: values.NAME, m.NAME and v.NAME (AdamW's moments), ema.NAME (averaged weights, where
// there are any) for every parameter NAME; of a sparse table values and adagrad.NAME, one a row.
// Metadata: the counters steps and seen; seed and lanes, which every sum and every random number
// hang on; the model's config. All is checked before anything is changed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "models/safetensors.h"
#include "train/trainer.h"

namespace linnet {
namespace {

constexpr const char* kFormat = "linnet trainer 1";
// Far above any run, and far from where counters could overflow.
constexpr uint64_t kMostSteps = 1'000'000'000'000'000;

// The metadata of a state file; an Error names the file and the entry.
class Entries {
 public:
  Entries(const SafetensorsFile& file, std::string place)
      : metadata_(file.metadata()), place_(std::move(place)) {}

  const std::string& text(const char* name) const {
    const auto found = metadata_.find(name);
    if (found == metadata_.end()) refuse(fmt::format("has no entry \"{}\"", name));
    return found->second;
  }
  uint64_t number(const char* name, uint64_t most) const {
    const std::string& digits = text(name);
    uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, value);
    if (failure != std::errc() || stop != end || value > most) {
      refuse(fmt::format("{} must be a whole number from 0 to {}, not \"{}\"", name, most,
                         printable(digits)));
    }
    return value;
  }
  // For what cannot change within a run.
  void expect(const char* name, uint64_t own) const {
    const uint64_t theirs = number(name, std::numeric_limits<uint64_t>::max());
    if (theirs != own)
      refuse(fmt::format("was saved with {} {}, this run has {}", name, theirs, own));
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(fmt::format("[{}] {}", place_, why));
  }

 private:
  const std::map<std::string, std::string>& metadata_;
  std::string place_;
};

std::string config_text(const ModelConfig& config) { return config_to_json(config).dump(); }

}  // namespace

// One list for saving and loading.
template <class Self, class Visit>
void Trainer::for_each_state_tensor(Self& self, const Visit& visit) {
  for (const ParamSpec& spec : self.model_.layout().specs()) {
    visit("values." + spec.name, spec.shape, self.parameters_.values() + spec.offset);
    if (spec.sparse) {
      visit("adagrad." + spec.name, {spec.shape[0]}, self.sparse_.accumulators().data());
      continue;
    }
    visit("m." + spec.name, spec.shape, self.optimizer_.m() + spec.offset);
    visit("v." + spec.name, spec.shape, self.optimizer_.v() + spec.offset);
    if (self.average_) visit("ema." + spec.name, spec.shape, self.average_->values() + spec.offset);
  }
}

void Trainer::save_state(const std::filesystem::path& path, const std::string& note) const {
  LINNET_ASSERT(pending_ == 0);
  std::vector<Tensor> tensors;
  for_each_state_tensor(
      *this, [&](const std::string& name, const std::vector<int64_t>& shape, const float* data) {
        tensors.push_back({name, shape, data});
      });
  write_safetensors(path, tensors,
                    {{"format", kFormat},
                     {"steps", std::to_string(steps())},
                     {"seen", std::to_string(seen_)},
                     {"seed", std::to_string(config_.seed)},
                     {"lanes", std::to_string(sum_.lanes())},
                     {"config", config_text(model_.config())},
                     {"note", note}});
}

std::string Trainer::load_state(const std::filesystem::path& path) {
  LINNET_ASSERT(pending_ == 0);
  const SafetensorsFile file = SafetensorsFile::open(path);
  const Entries entries(file, place_of(path));
  if (entries.text("format") != kFormat) entries.refuse("is not the state of a trainer");
  if (config_text(parse_config(entries.text("config"), place_of(path))) !=
      config_text(model_.config()))
    entries.refuse("was saved by a model with another config");
  entries.expect("seed", config_.seed);
  entries.expect("lanes", static_cast<uint64_t>(sum_.lanes()));
  const uint64_t steps = entries.number("steps", kMostSteps),
                 seen = entries.number("seen", std::numeric_limits<int64_t>::max());
  const std::string& note = entries.text("note");
  size_t count = 0;
  for_each_state_tensor(*this,
                        [&](const std::string& name, const std::vector<int64_t>& shape, float*) {
                          file.check(name, shape);
                          ++count;
                        });
  if (file.tensors().size() != count)
    entries.refuse(
        fmt::format("has {} tensors, the state of this run has {}", file.tensors().size(), count));
  for_each_state_tensor(*this, [&](const std::string& name, const std::vector<int64_t>& shape,
                                   float* data) { file.read(name, data, shape); });
  optimizer_.set_steps(static_cast<int64_t>(steps));
  seen_ = seen;
  parameters_.pack(context_, model_);
  return note;
}

}  // namespace linnet
