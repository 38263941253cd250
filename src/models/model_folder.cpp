// model_folder.cpp -- writes and reads a model folder.
#include "models/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "models/memory_need.h"
#include "models/safetensors.h"

namespace linnet {
namespace {

constexpr const char* kWeights = "model.safetensors";

}  // namespace

void save_model(const std::filesystem::path& folder, const Model& model, const float* values,
                const std::string& card, const nlohmann::ordered_json& data) {
  std::vector<Tensor> tensors;
  for (const ParamSpec& spec : model.layout().specs()) {
    tensors.push_back({spec.name, spec.shape, values + spec.offset});
  }
  nlohmann::ordered_json config = config_to_json(model.config());
  if (!data.is_null()) config["data"] = data;
  NewFile weights = new_safetensors(folder / kWeights, tensors, {{"format", "linnet"}});
  NewFile readme(folder / "README.md", card);
  NewFile settings(folder / "config.json",
                   config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  for (NewFile* file : {&weights, &readme, &settings}) file->put_in_place();
}

ModelConfig load_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  constexpr std::string_view kBegun[] = {"run.json", "start.json", "autotune.jsonl"};
  if (!std::filesystem::exists(path) && !first_of(folder, kBegun).empty()) {
    throw Error(
        fmt::format("[{}] has no model yet: its training stopped before the first look at "
                    "validation; the same linnet train goes on",
                    place_of(folder)));
  }
  return parse_config(read_file(path, kLargestConfigFile), place_of(path));
}

namespace {

// Opens the weights and compares their directory with the model, before anything of its size is
// allocated.
SafetensorsFile open_weights(const std::filesystem::path& folder, const Model& model) {
  const std::filesystem::path path = folder / kWeights;
  SafetensorsFile file = SafetensorsFile::open(path);
  const auto& specs = model.layout().specs();
  std::set<std::string_view> names;
  for (const ParamSpec& spec : specs) names.insert(spec.name);
  for (const auto& [name, info] : file.tensors()) {
    if (!names.contains(name))
      throw Error(fmt::format("[{}] tensor {} is not part of the model in config.json",
                              place_of(path), printable(name)));
  }
  for (const ParamSpec& spec : specs) {
    const auto it = file.tensors().find(spec.name);
    if (it == file.tensors().end())
      throw Error(fmt::format("[{}] tensor {} is missing", place_of(path), spec.name));
    if (it->second.shape != spec.shape) {
      throw Error(fmt::format("[{}] tensor {} has another shape than config.json says",
                              place_of(path), spec.name));
    }
  }
  return file;
}

Block read_values(const SafetensorsFile& file, const Model& model) {
  Block values(model.layout().floats());
  for (const ParamSpec& spec : model.layout().specs())
    file.read(spec.name, values.data() + spec.offset, spec.shape);
  return values;
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& folder, const MemoryBudget& memory) {
  const ModelConfig config = load_config(folder);
  const Model model(config);
  const SafetensorsFile file = open_weights(folder, model);
  // As it is loaded, and folded for use.
  memory.check("to answer", weights_need(model, {.dense = 2, .packed = 1, .sparse = 2, .side = 2}));
  return {config, read_values(file, model)};
}

ModelConfig check_model(const std::filesystem::path& folder) {
  const ModelConfig config = load_config(folder);
  const Model model(config);
  const SafetensorsFile file = open_weights(folder, model);
  for (const ParamSpec& spec : model.layout().specs()) file.check(spec.name, spec.shape);
  return config;
}

bool has_tensor(const std::filesystem::path& folder, const std::string& name) {
  return SafetensorsFile::open(folder / kWeights).tensors().contains(name);
}

Block load_values(const std::filesystem::path& folder, const Model& model) {
  return read_values(open_weights(folder, model), model);
}

namespace {

// A row for each id or place: another number of them is the same table, longer or shorter. The sums
// of a scan from the left are the first rows of those from both sides.
bool of_rows(const ParamSpec& spec) {
  return spec.name == "embed.weight" || spec.name == "embed.positions" ||
         spec.name.ends_with(".mix.project") || spec.name.ends_with(".mix.scan_decay") ||
         spec.name.ends_with(".mix.scan_weight");
}

}  // namespace

Block initial_values(const Model& model, uint64_t seed, const std::filesystem::path& folder) {
  Block values = Parameters::initial(model, seed);
  if (folder.empty()) return values;
  const Model other(load_config(folder));
  const SafetensorsFile file = open_weights(folder, other);
  std::map<std::string_view, const ParamSpec*> theirs;
  for (const ParamSpec& spec : other.layout().specs()) theirs[spec.name] = &spec;
  for (const ParamSpec& spec : model.layout().specs()) {
    const auto found = theirs.find(spec.name);
    if (found == theirs.end() || spec.name.starts_with("head.") || spec.name.starts_with("wide.") ||
        spec.name.starts_with("regions."))
      continue;
    const ParamSpec& given = *found->second;
    if (spec.shape != given.shape && !(of_rows(spec) && spec.shape[1] == given.shape[1])) {
      throw Error(fmt::format("[{}] tensor {} has the shape [{}], this model's [{}]",
                              place_of(folder), spec.name, fmt::join(given.shape, ", "),
                              fmt::join(spec.shape, ", ")));
    }
    file.read_start(spec.name, values.data() + spec.offset, given.shape,
                    std::min(spec.size(), given.size()));
  }
  return values;
}

}  // namespace linnet
