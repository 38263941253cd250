// main.cpp -- linnet VERB: finds the verb, turns errors into one sentence and an exit code.
#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "cli/flag_checks.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "core/file.h"

namespace {

constexpr const char* kAbout =
    "linnet: trains, compares and serves linear-time sequence models on ordinary CPUs.\n"
    "Start with: linnet quickstart\n";

bool has_verb(const CLI::App& app, const std::string& name) {
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(verbs.begin(), verbs.end(),
                     [&](const CLI::App* verb) { return verb->check_name(name); });
}

void add_verbs(CLI::App& app) {
  app.set_version_flag("--version", LINNET_VERSION);
  app.require_subcommand(1);
  linnet::add_quickstart(app);
  linnet::add_list(app);
  linnet::add_train(app);
  linnet::add_eval(app);
  linnet::add_predict(app);
  linnet::add_arena(app);
  linnet::add_info(app);
  linnet::add_tokenizer(app);
  linnet::add_data(app);
  linnet::add_bench(app);
  linnet::add_report(app);
  linnet::add_oracle(app);
  linnet::check_flags(app);
}

void run(CLI::App& app, int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-' && !has_verb(app, argv[1]))
    throw linnet::Error("no such verb: " + linnet::printable(argv[1]) + "; see linnet --help");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream text;
    app.exit(asked, text, text);
    linnet::write_out(text.str());
  }
  linnet::flush_out();
}

void say_out_of_memory() {
  linnet::print_error(
      "out of memory: a smaller model, --length, --batch or --window takes less; --memory says how "
      "much there is to take");
}

}  // namespace

int main(int argc, char** argv) {
  linnet::prepare_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that is too large is a failed write, which says so
  CLI::App app(kAbout, "linnet");
  add_verbs(app);
  try {
    run(app, argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& stopped) {  // the verb has said why
    return stopped.get_exit_code();
  } catch (const linnet::ClosedPipe&) {
    linnet::end_by_closed_pipe();
  } catch (const CLI::ParseError& error) {
    linnet::print_error(std::string(error.what()) + "; see linnet --help");
  } catch (const linnet::Error& error) {
    linnet::print_error(error.what());
  } catch (const std::filesystem::filesystem_error& error) {  // e.g. links that run in a circle
    linnet::print_error("[" + linnet::place_of(error.path1()) + "] " + error.code().message());
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
  } catch (const std::length_error&) {  // more than any memory
    say_out_of_memory();
  } catch (const std::exception& error) {
    linnet::print_error(error.what());
    return 1;
  }
  return 2;
}
