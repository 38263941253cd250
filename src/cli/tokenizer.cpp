// tokenizer.cpp -- linnet tokenizer: learns one from texts, turns texts into ids and back.
#include "data/tokenizer.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/activity.h"
#include "cli/data_flags.h"
#include "cli/input_lines.h"
#include "cli/output_file.h"
#include "cli/streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/error.h"
#include "data/part.h"

namespace linnet {
namespace {

struct Options {
  std::string kind = "bpe", data, out, model;
  TokenizerOptions train;
  bool json = false, pieces = false;
};

void train(const Options& options, const ReadOptions& read) {
  OutputFile out(options.out);
  const Clock::time_point start = Clock::now();
  RecordTexts texts(DataPart{.path = options.data, .read = read});
  std::unique_ptr<Tokenizer> tokenizer;
  {
    Activity activity("tokenizer " + options.kind);
    TokenizerOptions settings = options.train;
    settings.progress = [&](const std::string& note) { activity.show(note); };
    tokenizer = train_tokenizer(
        options.kind, [&](std::string& text) { return texts.next(text); }, settings);
  }
  const std::string file = tokenizer->file();
  out.write(file);
  out.close();
  const double seconds = seconds_since(start);
  if (options.json) {
    nlohmann::ordered_json json;
    json["kind"] = tokenizer->kind();
    json["vocabulary"] = tokenizer->vocabulary();
    json["texts"] = texts.count();
    json["text_bytes"] = texts.bytes();
    json["seconds"] = seconds;
    json["file"] = options.out;
    json["file_bytes"] = file.size();
    write_json(json);
    return;
  }
  print_out("{}: {} ids from {} texts, {:.1f} MB, in {:.1f} s; {} bytes to {}\n", tokenizer->kind(),
            with_commas(tokenizer->vocabulary()), with_commas(texts.count()),
            static_cast<double>(texts.bytes()) * 1e-6, seconds,
            with_commas(static_cast<int64_t>(file.size())), options.out);
}

void print_line(const std::string& line) {
  write_out(line);
  write_out("\n");
}

void encode(const Options& options) {
  const auto tokenizer = load_tokenizer(options.model);
  InputLines texts;
  std::vector<int32_t> ids;
  std::string line;
  for (std::string_view text; texts.next(text);) {
    ids.clear();
    try {
      tokenizer->encode(text, ids);
    } catch (const Error& error) {
      throw Error(fmt::format("[standard input, line {}] {}", texts.number(), error.what()));
    }
    line.clear();
    for (const int32_t id : ids) {
      if (!line.empty()) line += ' ';
      line += options.pieces ? printable(tokenizer->piece(id), text.npos) : std::to_string(id);
    }
    print_line(line);
  }
}

void decode(const Options& options) {
  const auto tokenizer = load_tokenizer(options.model);
  InputLines texts;
  std::vector<int32_t> ids;
  for (std::string_view text; texts.next(text);) {
    ids.clear();
    const char* at = text.data();
    const char* end = at + text.size();
    while (at != end) {
      if (*at == ' ' || *at == '\r') {
        ++at;
        continue;
      }
      int32_t id = 0;
      const auto [rest, fault] = std::from_chars(at, end, id);
      if (fault != std::errc() || (rest != end && *rest != ' ' && *rest != '\r'))
        throw Error(fmt::format("[standard input, line {}, column {}] must be ids between blanks",
                                texts.number(), at - text.data() + 1));
      ids.push_back(id);
      at = rest;
    }
    try {
      print_line(tokenizer->decode(ids));
    } catch (const Error& error) {
      throw Error(fmt::format("[standard input, line {}] {}", texts.number(), error.what()));
    }
  }
}

std::string kinds() {
  std::string names;
  for (const TokenizerKind* kind : tokenizers())
    names += (names.empty() ? "" : ", ") + std::string(kind->name);
  return names;
}

}  // namespace

void add_tokenizer(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("tokenizer", "Texts to ids and back; learns the pieces");
  verb->require_subcommand(1);
  verb->footer(
      "Examples:\n"
      "  linnet tokenizer train --kind bpe --vocab 8192 --data texts.txt --out tokenizer.model\n"
      "  echo 'a long text' | linnet tokenizer encode --model tokenizer.model");

  CLI::App* learn = verb->add_subcommand("train", "Learns from the texts of a file");
  learn->add_option("--kind", options->kind, kinds())->capture_default_str();
  learn->add_option("--data", options->data, "Any data that linnet reads; - for standard input")
      ->required();
  learn->add_option("--out", options->out, "File to write, e.g. MODEL/tokenizer.model")->required();
  TokenizerOptions& train_options = options->train;
  learn->add_option("--vocab", train_options.vocabulary, "At most so many ids")
      ->capture_default_str();
  learn->add_option("--threads", train_options.threads, "0: one a core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  learn
      ->add_option("--coverage", train_options.coverage,
                   "bpe, unigram: share of the characters with a piece")
      ->capture_default_str();
  learn->add_flag("--lower", train_options.lower_case, "words: lower case");
  learn->add_flag("--split-punctuation", train_options.split_punctuation,
                  "words: marks are words of their own");
  learn->add_option("--min-count", train_options.min_count, "words: rarer ones have no own id")
      ->capture_default_str();
  learn->add_option("--buckets", train_options.buckets, "words: ids for the rest, by hash")
      ->capture_default_str();
  learn->add_flag("--json", options->json, "The result as one JSON object");
  learn->callback([options, learn, read = DataFlags(*learn)] {
    const bool words = options->kind == "words";
    for (const char* flag : {"--lower", "--split-punctuation", "--min-count", "--buckets"}) {
      if (!words && learn->count(flag) > 0)
        throw Error(fmt::format("[{}] is for --kind words", flag));
    }
    if (words && learn->count("--coverage") > 0)
      throw Error("[--coverage] is for --kind bpe or unigram");
    train(*options, read.options());
  });

  CLI::App* to_ids = verb->add_subcommand("encode", "Lines of text to lines of ids");
  to_ids->add_option("--model", options->model, "File of a tokenizer, or a model folder")
      ->required();
  to_ids->add_flag("--pieces", options->pieces, "Names of the ids, for people");
  to_ids->callback([=] { encode(*options); });

  CLI::App* to_text = verb->add_subcommand("decode", "Lines of ids to lines of text");
  to_text->add_option("--model", options->model, "File of a tokenizer, or a model folder")
      ->required();
  to_text->callback([=] { decode(*options); });
}

}  // namespace linnet
