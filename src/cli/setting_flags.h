// setting_flags.h -- every setting of a group as a flag of the same name.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>

#include "models/config.h"
#include "train/pretraining.h"
#include "train/run_settings.h"

namespace linnet {

class SettingFlags {
 public:
  // Adds --mixer, --phi, --width, ... to a verb, but those that the verb has itself and those that
  // are decided already, e.g. by its data. `group` names the settings in errors.
  SettingFlags(CLI::App& verb, std::string group, const std::string& title,
               const nlohmann::ordered_json& defaults,
               const std::map<std::string, std::string>& help,
               const std::set<std::string>& decided);
  bool given() const;
  bool given(const std::string& name) const;
  // `settings` with what the user gave.
  nlohmann::json apply(nlohmann::json settings) const;

 private:
  std::string group_;
  std::shared_ptr<std::map<std::string, std::string>> values_;
};

// The settings of a model.
class ConfigFlags : public SettingFlags {
 public:
  explicit ConfigFlags(CLI::App& verb, const std::set<std::string>& decided = {});
  // The result is checked.
  ModelConfig apply(const ModelConfig& config) const;
  // An Error where a setting that was given is of no effect in any of the models.
  void check_used(std::span<const ModelConfig> models) const;
};

// The settings of a run.
class RunFlags : public SettingFlags {
 public:
  explicit RunFlags(CLI::App& verb, const std::set<std::string>& decided = {});
  RunSettings apply(const RunSettings& settings) const;
};

// The settings of pretraining.
class PretrainFlags : public SettingFlags {
 public:
  explicit PretrainFlags(CLI::App& verb);
  PretrainSettings apply(const PretrainSettings& settings) const;
};

}  // namespace linnet
