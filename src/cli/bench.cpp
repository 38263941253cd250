// bench.cpp -- placeholder
#include "cli/verbs.h"
namespace linnet { void add_bench(CLI::App&) {} }
