// info.cpp -- linnet info: what is in a model folder, or what a configuration would be.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/setting_flags.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "models/model_folder.h"
#include "models/profiles.h"

namespace linnet {
namespace {

struct Options {
  std::string folder, profile = "paper", task, row;
  bool json = false, tensors = false;
};

using Json = nlohmann::ordered_json;

Json describe(const ModelConfig& config) {
  const Model model(config);
  Json json;
  json["parameters"] = model.layout().parameters();
  json["bytes"] = model.layout().parameters() * 4;
  json["flops_per_token"] =
      model.forward_flops(config.length, false) / static_cast<double>(config.length);
  json["config"] = config_to_json(config);
  return json;
}

void print_text(const Json& json, const Model& model, bool tensors) {
  print_out("parameters    {}\n", with_commas(json["parameters"].get<int64_t>()));
  print_out("size          {:.1f} MB as float32\n",
            static_cast<double>(json["bytes"].get<int64_t>()) * 1e-6);
  print_out("forward       {:.2f} MFLOP a token at {} tokens\n",
            json["flops_per_token"].get<double>() * 1e-6, model.config().length);
  for (const auto& [name, value] : json["config"].items()) {
    print_out("{:<13} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (!tensors) return;
  std::vector<std::vector<std::string>> rows = {{"tensor", "shape"}};
  for (const ParamSpec& spec : model.layout().specs()) {
    std::string shape;
    for (int64_t dim : spec.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(dim);
    rows.push_back({spec.name, shape});
  }
  print_out("\n");
  write_out(format_table(rows));
}

void run(const Options& options, const ConfigFlags& flags) {
  ModelConfig config;
  const bool named = !options.task.empty() || !options.row.empty();
  if (!options.folder.empty()) {
    config = check_model(options.folder);
    if (named || flags.given())
      throw Error("[info] a model folder has its settings: name one or the other");
  } else if (named) {
    if (options.task.empty() || options.row.empty())
      throw Error("[info] --task and --row go together: one row of an arena in one task");
    config = profile_config(options.profile, options.task, options.row);
  } else if (!flags.given()) {
    throw Error("[info] name a model folder, or --task and --row, or settings such as --phi 2xglu");
  }
  config = flags.apply(config);
  flags.check_used({&config, 1});
  const Json json = describe(config);
  if (options.json) {
    write_json(json);
  } else {
    print_text(json, Model(config), options.tensors);
  }
}

}  // namespace

void add_info(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("info", "What is in a model folder, or what a configuration would be");
  verb->footer(
      "Examples:\n  linnet info quickstart/model\n  linnet info --profile paper --task listops "
      "--row transformer --json\n  linnet info --width 256 --heads 4 --phi 2xoglu");
  verb->add_option("folder", options->folder, "Model folder");
  verb->add_option("--profile", options->profile, "Sizes: " + profile_names())
      ->capture_default_str();
  verb->add_option("--task", options->task, "Task: " + profile_tasks());
  verb->add_option("--row", options->row, "A row of the arena: " + profile_rows());
  verb->add_flag("--tensors", options->tensors, "List every tensor");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, flags = ConfigFlags(*verb)] { run(*options, flags); });
}

}  // namespace linnet
