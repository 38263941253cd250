// config_flags.cpp -- flags to settings, by way of the JSON that a config file would have.
#include "cli/config_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

ConfigFlags::ConfigFlags(CLI::App& verb, const std::set<std::string>& decided)
    : values_(std::make_shared<std::map<std::string, std::string>>()) {
  const nlohmann::ordered_json defaults = config_to_json(ModelConfig());
  const std::map<std::string, std::string> help = config_help();
  for (const auto& [name, value] : defaults.items()) {
    std::string flag = name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (decided.contains(name) || verb.get_option_no_throw("--" + flag)) continue;
    verb.add_option("--" + flag, (*values_)[name], help.at(name))
        ->type_name(value.is_string()    ? "TEXT"
                    : value.is_boolean() ? "true|false"
                                         : "NUMBER")
        ->group("Settings of the model");
  }
}

bool ConfigFlags::given() const {
  return std::any_of(values_->begin(), values_->end(),
                     [](const auto& entry) { return !entry.second.empty(); });
}

ModelConfig ConfigFlags::apply(const ModelConfig& config) const {
  nlohmann::json json = config_to_json(config);
  for (const auto& [name, text] : *values_) {
    if (text.empty()) continue;
    nlohmann::json value = text;
    if (!json.at(name).is_string()) {
      value = nlohmann::json::parse(text, nullptr, false);
      if (value.is_discarded()) {
        throw Error(fmt::format("[config.{}] must be {}, not \"{}\"", name,
                                json.at(name).is_boolean() ? "true or false" : "a number",
                                printable(text, 40)));
      }
    }
    json[name] = value;
  }
  return config_from_json(json);
}

}  // namespace linnet
