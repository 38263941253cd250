// memory_flag.cpp -- the flag, which a variable of the environment can stand for.
#include "cli/memory_flag.h"

#include "core/error.h"
#include "core/memory_budget.h"

namespace linnet {

void add_memory_flag(CLI::App& verb, std::string& memory) {
  verb.add_option("--memory", memory,
                  "What it may take, e.g. 512M or 8G; 3/4 of what there is if not given")
      ->envname("LINNET_MEMORY")
      ->check([](const std::string& text) {
        try {
          MemoryBudget budget(text);
          return std::string();
        } catch (const Error& error) {
          const std::string_view what = error.what();  // the flag is named by who calls this
          return std::string(what.substr(what.find("] ") + 2));
        }
      });
}

}  // namespace linnet
