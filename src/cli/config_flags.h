// config_flags.h -- every setting of a model's configuration as a flag of the same name.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "models/config.h"

namespace linnet {

class ConfigFlags {
 public:
  // Adds --mixer, --phi, --width, ... to a verb, but those that the verb has itself and those that
  // are decided already, e.g. by its data.
  explicit ConfigFlags(CLI::App& verb, const std::set<std::string>& decided = {});
  bool given() const;
  // `config` with what the user gave; the result is checked.
  ModelConfig apply(const ModelConfig& config) const;

 private:
  std::shared_ptr<std::map<std::string, std::string>> values_;
};

}  // namespace linnet
