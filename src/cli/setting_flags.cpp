// setting_flags.cpp -- flags to settings, by way of the JSON that a file of them would have.
#include "cli/setting_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/flag_checks.h"
#include "core/error.h"
#include "core/file.h"
#include "mixers/mixer.h"

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
      const bool truth = settings.at(name).is_boolean();
      value = nlohmann::json::parse(text, nullptr, false);
      if (value.is_discarded() || !(truth ? value.is_boolean() : is_number(text))) {
        throw Error(fmt::format("[{}.{}] must be {}, not \"{}\"", group_, name,
                                truth ? "true or false" : "a number", printable(text, 40)));
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

void ConfigFlags::check_used(std::span<const ModelConfig> models) const {
  const auto needs = [&](const char* name, const char* what, bool (*uses)(const ModelConfig&)) {
    if (given(name) && std::ranges::none_of(models, uses))
      throw Error(fmt::format("[config.{}] is of no effect: it is {}", name, what));
  };
  needs("phi", "of the mixers that have a phi, which this is not", [](const ModelConfig& c) {
    const auto has = [](const Mixer& mixer) { return mixer.uses_feature && mixer.phi.empty(); };
    return has(mixer_of(c, 0)) || (c.blocks > 1 && has(mixer_of(c, 1)));
  });
  needs("ngram_buckets", "for --ngrams", [](const ModelConfig& c) { return c.ngrams > 0; });
  needs("pair", "for pairs of texts", [](const ModelConfig& c) { return c.task == "match"; });
  for (const char* name : {"wide_bits", "wide_length"})
    needs(name, "for --wide", [](const ModelConfig& c) { return c.wide > 0; });
  for (const char* name : {"region_units", "region_rows"})
    needs(name, "for --regions", [](const ModelConfig& c) { return c.regions > 0; });
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
