// tuning_space.cpp -- the values of each setting, and draws from all of them.
#include "train/tuning_space.h"

#include <algorithm>

#include "core/error.h"
#include "core/random.h"
#include "models/ngram_table.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;
// Ways to change one setting, or some that belong together; the first changes nothing.
using Dimension = std::vector<Json>;

Candidate changed(const ModelConfig& config, const RunSettings& settings, const Json& changes) {
  nlohmann::json model = config_to_json(config), train = run_settings_to_json(settings);
  for (const auto& [name, value] : changes.items())
    (model.contains(name) ? model : train)[name] = value;
  return {changes, config_from_json(model), run_settings_from_json(train)};
}

std::vector<Dimension> space_of(const Task& task, const ModelConfig& config,
                                const RunSettings& settings,
                                const std::function<bool(const std::string&)>& given) {
  std::vector<Dimension> space;
  const auto add = [&](std::initializer_list<const char*> names, std::initializer_list<Json> ways) {
    if (std::any_of(names.begin(), names.end(), given)) return;
    Dimension dimension = {Json::object()};
    for (const Json& way : ways) {
      try {
        const Candidate candidate = changed(config, settings, way);
        if (config_to_json(candidate.config) != config_to_json(config) ||
            run_settings_to_json(candidate.settings) != run_settings_to_json(settings))
          dimension.push_back(way);
      } catch (const Error&) {  // this model cannot have it, e.g. a width that its heads divide not
      }
    }
    if (dimension.size() > 1) space.push_back(dimension);
  };
  const auto wide = [&](int64_t times, int64_t part) {
    return Json{{"width", config.width * times / part},
                {"hidden", config.hidden * times / part},
                {"head_units", config.head_units * times / part}};
  };
  add({"lr"}, {{{"lr", settings.lr / 4}},
               {{"lr", settings.lr / 2}},
               {{"lr", settings.lr * 2}},
               {{"lr", settings.lr * 4}}});
  add({"weight_decay"},
      {{{"weight_decay", 0.0}}, {{"weight_decay", 0.01}}, {{"weight_decay", 0.1}}});
  add({"dropout"},
      {{{"dropout", 0.0}}, {{"dropout", 0.1}}, {{"dropout", 0.2}}, {{"dropout", 0.3}}});
  add({"width", "hidden", "head_units"}, {wide(1, 2), wide(2, 1)});
  // Of words two or three, of bytes as many as make a word.
  const int64_t n = config.ngrams;
  if (task.cut && n > 3) {
    add({"ngrams"}, {{{"ngrams", n - 2}}, {{"ngrams", std::min(n + 2, kMostNgrams)}}});
  } else if (task.cut) {
    add({"ngrams"}, {{{"ngrams", 0}}, {{"ngrams", 2}}, {{"ngrams", 3}}});
  }
  return space;
}

}  // namespace

std::vector<Candidate> tuning_candidates(const Task& task, const ModelConfig& config,
                                         const RunSettings& settings,
                                         const std::function<bool(const std::string&)>& given,
                                         size_t most) {
  const std::vector<Dimension> space = space_of(task, config, settings, given);
  if (space.empty())
    throw Error("[--autotune] every setting that it would try is given already: nothing to search");
  size_t all = 1;
  for (const Dimension& dimension : space) all *= dimension.size();
  while (most > all) most /= 2;
  std::vector<Candidate> candidates = {changed(config, settings, Json::object())};
  Random random(static_cast<uint64_t>(settings.seed), 0x7475);
  while (candidates.size() < most) {
    Json changes = Json::object();
    for (const Dimension& dimension : space)
      changes.update(dimension[random.below(static_cast<uint32_t>(dimension.size()))]);
    if (std::ranges::none_of(candidates, [&](const Candidate& c) { return c.changes == changes; }))
      candidates.push_back(changed(config, settings, changes));
  }
  return candidates;
}

}  // namespace linnet
