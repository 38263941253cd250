// phi_text.cpp -- the parser of phi texts: one pass, every refusal with its character.
#include "features/phi_text.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

constexpr size_t kMostStages = 64;
constexpr int64_t kLargest = 1 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<PhiStage> run() {
    std::vector<PhiStage> stages;
    do {
      const auto [stage, count] = read_stage();
      for (int64_t i = 0; i < count; ++i) stages.push_back(stage);
      if (stages.size() > kMostStages)
        fail(stage.place, fmt::format("a phi has at most {} stages", kMostStages));
    } while (accept('>'));
    if (at_ < text_.size()) fail(place(at_), "expected \">\" and another stage, or the end");
    const PhiStage& last = stages.back();
    if (!last.kind->positive) {
      fail(last.place,
           fmt::format("\"{}\" can be negative: phi must end with one of {}", last.kind->name,
                       names([](const Feature& f) { return f.positive; })));
    }
    return stages;
  }

 private:
  [[noreturn]] static void fail(const std::string& where, const std::string& what) {
    throw Error(fmt::format("{} {}", where, what));
  }
  static std::string place(size_t at) { return fmt::format("[config.phi, character {}]", at + 1); }

  template <class Keep>
  static std::string names(const Keep& keep) {
    std::string all;
    for (const Feature* f : features()) {
      if (keep(*f)) all += (all.empty() ? "" : ", ") + std::string(f->name);
    }
    return all;
  }

  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view read_word() {
    const size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  int64_t read_number(const std::string& what, int64_t largest) {
    const size_t start = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      value = value * 10 + (text_[at_] - '0');
      if (value > largest) fail(place(start), fmt::format("{} is at most {}", what, largest));
    }
    if (at_ == start) fail(place(start), fmt::format("expected {}, a whole number", what));
    if (value == 0) fail(place(start), fmt::format("{} is at least 1", what));
    return value;
  }

  std::pair<PhiStage, int64_t> read_stage() {
    const std::string where = place(at_);
    int64_t count = 1;
    // Names may begin with no digit, so "2xglu" is a count.
    if (at_ < text_.size() && is_digit(text_[at_])) {
      count = read_number("the number of units", static_cast<int64_t>(kMostStages));
      if (!accept('x')) fail(place(at_), "expected \"x\" after the number of units, as in 2xglu");
    }
    const std::string name_at = place(at_);
    const std::string_view name = read_word();
    PhiStage stage{.kind = nullptr, .place = where};
    for (const Feature* f : features()) {
      if (f->name == name) stage.kind = f;
    }
    if (!stage.kind) {
      const std::string all = names([](const Feature&) { return true; });
      if (name.empty()) fail(name_at, "expected the name of a stage: " + all);
      fail(name_at, fmt::format("no such stage: \"{}\"; there are: {}", printable(name, 40), all));
    }
    if (accept(':')) {
      do read_option(stage);
      while (accept(','));
    }
    return {stage, count};
  }

  void read_option(PhiStage& stage) {
    const std::string where = place(at_);
    const std::string_view key = read_word();
    const std::array<std::pair<std::string_view, int64_t*>, 3> known = {
        {{"f", &stage.features}, {"r", &stage.rank}, {"redraw", &stage.redraw}}};
    for (const auto& [name, value] : known) {
      if (name != key || !takes(*stage.kind, name)) continue;
      if (*value != 0) fail(where, fmt::format("{} is given twice", name));
      if (!accept('=')) fail(place(at_), fmt::format("expected \"=\" after {}", name));
      *value = read_number(std::string(name), kLargest);
      return;
    }
    fail(where, stage.kind->options.empty()
                    ? fmt::format("\"{}\" takes no options", stage.kind->name)
                    : fmt::format("\"{}\" has no option \"{}\"; it takes: {}", stage.kind->name,
                                  printable(key, 40), stage.kind->options));
  }

  static bool takes(const Feature& kind, std::string_view option) {
    for (size_t at = 0; at < kind.options.size();) {
      const size_t end = std::min(kind.options.find(' ', at), kind.options.size());
      if (kind.options.substr(at, end - at) == option) return true;
      at = end + 1;
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<PhiStage> parse_phi(std::string_view text) { return Parser(text).run(); }

}  // namespace linnet
