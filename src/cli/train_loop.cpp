// train_loop.cpp -- steps, and what is shown of them.
#include "cli/train_loop.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/figures.h"
#include "cli/interrupt.h"
#include "cli/streams.h"

namespace linnet {
void train_to_end(Run& run, bool quiet, Progress& bar, const BarPart& part) {
  const Clock::time_point start = Clock::now();
  const int64_t tokens_before = run.tokens();
  if (run.resumed() && !quiet) {
    print_out("goes on from step {}\n\n", with_commas(run.steps()));
    flush_out();
  }
  double smooth = 0;
  while (!run.finished() && !interrupted()) {
    const int64_t looks = run.evaluations();
    const StepResult result = run.advance();
    smooth = smooth == 0 ? result.loss : 0.98 * smooth + 0.02 * result.loss;
    if (run.evaluations() > looks && !quiet && !stderr_is_terminal())
      print_note("step {}: loss {:.4f}; validation: {}\n", run.steps(), smooth,
                 figures_text(run.last()));
    std::string note =
        fmt::format("step {}, loss {:.4f}, {} tokens/s", with_commas(run.steps()), smooth,
                    with_commas(static_cast<int64_t>(
                        static_cast<double>(run.tokens() - tokens_before) / seconds_since(start))));
    if (run.evaluations() > 0)
      note += fmt::format(", best {} {:.4f}", figure_name(run.metric()), run.best());
    bar.show(part.from + (part.to - part.from) * run.progress(), note);
  }
  run.save_checkpoint();
  const auto stop_if_asked = [&] {
    if (!interrupted()) return;
    print_note("linnet: stopped at step {}; the same command goes on from there\n", run.steps());
    throw CLI::RuntimeError(130);
  };
  stop_if_asked();
  run.fit_sides([&](const std::string& what) {
    bar.show(part.to, what);
    stop_if_asked();
  });
}

}  // namespace linnet
