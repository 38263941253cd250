// list.cpp -- linnet list: every kind of the registries, from their records.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "data/task.h"
#include "data/tokenizer.h"
#include "features/feature.h"
#include "layers/feed_forward.h"
#include "mixers/mixer.h"

namespace linnet {
namespace {

struct Entry {
  std::string_view name, cost, state, paper, formula, summary;
  bool causal, streaming;
};

struct Registry {
  std::string_view name, title, about;
  std::vector<Entry> entries;
  std::string_view measure = "cost";  // what Entry::cost is
};

Registry mixer_entries() {
  Registry registry{
      "mixers",
      "Token mixers",
      "How tokens see each other (`mixer`). Cost of a sequence of T tokens, C wide, D "
      "a head, F features; state: what is kept of the tokens read so far.",
      {}};
  for (const Mixer* m : mixers()) {
    registry.entries.push_back({m->name, m->cost, m->state, m->paper, m->formula, m->summary,
                                m->causal, m->causal && !m->grows});
  }
  return registry;
}

Registry feature_entries() {
  Registry registry{"features",
                    "Stages of phi",
                    "Feature maps of kernel attention (`phi`), alone or in a row: "
                    "`linear>norm>softplus`, `2xglu`. Cost a head and token; D a head, F features, "
                    "r rank. Every phi can be causal and streamed.",
                    {}};
  for (const Feature* f : features())
    registry.entries.push_back(
        {f->name, f->cost, "", f->paper, f->formula, f->summary, true, true});
  return registry;
}

Registry feed_forward_entries() {
  Registry registry{"ffns",
                    "Feed-forward layers",
                    "What happens to each token by itself (`ffn`). Cost a token; C wide, h hidden "
                    "units.",
                    {}};
  for (const FeedForward* f : feed_forwards())
    registry.entries.push_back({f->name, f->linear ? "O(C h + C^2)" : "O(C h)", "", f->paper,
                                f->formula, f->summary, true, true});
  return registry;
}

Registry tokenizer_entries() {
  Registry registry{"tokenizers",
                    "Tokenizers",
                    "What a token is (`linnet tokenizer train --kind`). Cost of a text of so many "
                    "bytes.",
                    {}};
  for (const TokenizerKind* t : tokenizers())
    registry.entries.push_back(
        {t->name, t->cost, "", t->paper, t->formula, t->summary, true, true});
  return registry;
}

Registry task_entries() {
  Registry registry{
      "tasks",
      "Tasks",
      "What is learnt from data (`linnet train --task`), what a record holds, and the "
      "tokenizer when none is named.",
      {},
      "tokenizer"};
  for (const Task* t : tasks())
    registry.entries.push_back({t->name, t->tokenizer, "", "", t->record, t->summary, true, true});
  return registry;
}

void print_json(const Registry& registry) {
  for (const Entry& e : registry.entries) {
    nlohmann::ordered_json json;
    json["registry"] = registry.name;
    json["name"] = e.name;
    json["cost"] = e.cost;
    json["state"] = e.state;
    json["paper"] = e.paper;
    json["causal"] = e.causal;
    json["streaming"] = e.streaming;
    json["formula"] = e.formula;
    json["summary"] = e.summary;
    write_json(json);
  }
}

const char* yes(bool value) { return value ? "yes" : "no"; }

void print_markdown(const Registry& registry) {
  print_out("\n## {}\n\n{}\n", registry.title, registry.about);
  for (const Entry& e : registry.entries) {
    print_out("\n### `{}`\n\n    {}\n\n{}.\n", e.name, e.formula, e.summary);
    print_out("{} {}", registry.measure == "cost" ? "Cost" : "Tokenizer", e.cost);
    if (!e.state.empty()) {
      print_out(", state {}; causal: {}; streamed with a state of fixed size: {}", e.state,
                yes(e.causal), yes(e.streaming));
    }
    print_out(".{}\n", e.paper.empty() ? "" : fmt::format(" Paper: {}.", e.paper));
  }
}

void print_text(const Registry& registry) {
  const bool with_state = registry.name == "mixers";
  std::vector<std::vector<std::string>> rows = {{"name", std::string(registry.measure)}};
  if (with_state) rows[0].insert(rows[0].end(), {"state", "causal", "streaming"});
  rows[0].emplace_back("what");
  for (const Entry& e : registry.entries) {
    std::vector<std::string>& row = rows.emplace_back();
    row.emplace_back(e.name);
    row.emplace_back(e.cost);
    if (with_state) {
      row.emplace_back(e.state);
      row.emplace_back(yes(e.causal));
      row.emplace_back(yes(e.streaming));
    }
    row.emplace_back(e.summary);
  }
  print_out("{}\n", registry.title);
  write_out(format_table(rows) + "\n");
}

struct Options {
  std::string which;
  bool json = false, markdown = false;
};

void run(const Options& options) {
  if (options.markdown) {
    print_out("<!-- Written by `linnet list --markdown`; not by hand. -->\n# What there is\n");
  }
  for (const Registry& registry : {mixer_entries(), feature_entries(), feed_forward_entries(),
                                   task_entries(), tokenizer_entries()}) {
    if (!options.which.empty() && options.which != registry.name) continue;
    if (options.json) {
      print_json(registry);
    } else if (options.markdown) {
      print_markdown(registry);
    } else {
      print_text(registry);
    }
  }
}

}  // namespace

void add_list(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("list", "What there is: mixers, feature maps, layers, tasks, tokenizers");
  verb->footer("Examples:\n  linnet list\n  linnet list features\n  linnet list mixers --json");
  verb->add_option("registry", options->which,
                   "mixers, features, ffns, tasks or tokenizers; all if not given")
      ->check(CLI::IsMember({"mixers", "features", "ffns", "tasks", "tokenizers"}));
  verb->add_flag("--json", options->json, "One JSON object a line");
  verb->add_flag("--markdown", options->markdown, "The page docs/kinds.md")->excludes("--json");
  verb->callback([=] { run(*options); });
}

}  // namespace linnet
