// quickstart.cpp -- placeholder
#include "cli/verbs.h"
namespace linnet { void add_quickstart(CLI::App&) {} }
