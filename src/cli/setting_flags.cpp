// setting_flags.cpp -- flags to settings, by way of the JSON that a file of them would have.
#include "cli/setting_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"

namespace linnet {

SettingFlags::SettingFlags(CLI::App& verb, std::string group, const std::string& title,
                           const nlohmann::ordered_json& defaults,
                           const std::map<std::string, std::string>& help,
                           const std::set<std::string>& decided)
    : group_(std::move(group)), values_(std::make_shared<std::map<std::string, std::string>>()) {
  for (const auto& [name, value] : defaults.items()) {
    std::string flag = name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (decided.contains(name) || verb.get_option_no_throw("--" + flag)) continue;
    verb.add_option("--" + flag, (*values_)[name], help.at(name))
        ->type_name(value.is_string()    ? "TEXT"
                    : value.is_boolean() ? "true|false"
                                         : "NUMBER")
        ->group(title);
  }
}

bool SettingFlags::given() const {
  return std::any_of(values_->begin(), values_->end(),
                     [](const auto& entry) { return !entry.second.empty(); });
}

bool SettingFlags::given(const std::string& name) const {
  const auto found = values_->find(name);
  return found != values_->end() && !found->second.empty();
}

nlohmann::json SettingFlags::apply(nlohmann::json settings) const {
  for (const auto& [name, text] : *values_) {
    if (text.empty()) continue;
    nlohmann::json value = text;
    if (!settings.at(name).is_string()) {
      value = nlohmann::json::parse(text, nullptr, false);
      if (value.is_discarded()) {
        throw Error(fmt::format("[{}.{}] must be {}, not \"{}\"", group_, name,
                                settings.at(name).is_boolean() ? "true or false" : "a number",
                                printable(text, 40)));
      }
    }
    settings[name] = value;
  }
  return settings;
}

ConfigFlags::ConfigFlags(CLI::App& verb, const std::set<std::string>& decided)
    : SettingFlags(verb, "config", "Settings of the model", config_to_json(ModelConfig()),
                   config_help(), decided) {}

ModelConfig ConfigFlags::apply(const ModelConfig& config) const {
  return config_from_json(SettingFlags::apply(config_to_json(config)));
}

PretrainFlags::PretrainFlags(CLI::App& verb)
    : SettingFlags(verb, "train", "Settings of pretraining",
                   pretrain_settings_to_json(PretrainSettings()), pretrain_settings_help(), {}) {}

PretrainSettings PretrainFlags::apply(const PretrainSettings& settings) const {
  return pretrain_settings_from_json(SettingFlags::apply(pretrain_settings_to_json(settings)));
}

RunFlags::RunFlags(CLI::App& verb, const std::set<std::string>& decided)
    : SettingFlags(verb, "train", "Settings of training", run_settings_to_json(RunSettings()),
                   run_settings_help(), decided) {}

RunSettings RunFlags::apply(const RunSettings& settings) const {
  return run_settings_from_json(SettingFlags::apply(run_settings_to_json(settings)));
}

}  // namespace linnet
