// memory_flag.h -- --memory, of every verb that allocates by its settings.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace linnet {

// The flag, or LINNET_MEMORY in the environment, as MemoryBudget takes it: checked, or empty.
void add_memory_flag(CLI::App& verb, std::string& memory);

}  // namespace linnet
