// jsonl.cpp -- one JSON object a line; only the fields that are asked for are kept.
//
// JSON is UTF-8 by its definition: other bytes are an Error here, with their place.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/file.h"
#include "data/ascii.h"
#include "data/columns.h"
#include "data/formats.h"
#include "data/rows.h"

namespace linnet {
namespace {

using Json = nlohmann::json;

// Calls value(depth, key, text, is_string) for the fields of the outer object (depth 1) and for the
// items of arrays in it (depth 2), as text; key() for each new key.
template <class Handler>
class FieldsSax : public nlohmann::json_sax<Json> {
 public:
  explicit FieldsSax(Handler& handler) : handler_(handler) {}
  bool null() override { return true; }
  bool boolean(bool value) override { return item(value ? "true" : "false", false); }
  bool number_integer(int64_t value) override { return item(std::to_string(value), false); }
  bool number_unsigned(uint64_t value) override { return item(std::to_string(value), false); }
  bool number_float(double, const std::string& text) override { return item(text, false); }
  bool string(std::string& value) override { return item(std::move(value), true); }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(true); }
  bool end_array() override { return close(); }
  bool key(std::string& key) override {
    if (depth_ != 1) return true;
    if (++keys_ > kMostFields) return stop(fmt::format("more than {} fields", kMostFields));
    handler_.key(std::move(key));
    return true;
  }
  bool parse_error(size_t position, const std::string&, const Json::exception& error) override {
    const std::string_view what = error.what();
    const size_t detail = what.find(": ");
    fault_ = what.substr(detail == what.npos ? 0 : detail + 2);
    position_ = position;
    return false;
  }

  const std::string& fault() const { return fault_; }
  // What there is too much of.
  const std::string& excess() const { return excess_; }
  size_t position() const { return position_; }

 private:
  bool item(std::string text, bool is_string) {
    const bool wanted = depth_ == 1 || (depth_ == 2 && array_);
    if (wanted && !handler_.value(depth_, std::move(text), is_string))
      return stop(fmt::format("more than {} labels", kMostLabels));
    if (depth_ == 0) fault_ = "a line must be an object, { ... }";
    return true;
  }
  bool stop(std::string excess) {
    excess_ = std::move(excess);
    return false;
  }
  bool open(bool array) {
    if (depth_ == 0 && array) {
      fault_ = "a line must be an object, { ... }, not an array";
      return false;  // its items have no key
    }
    if (depth_ == 1) array_ = array;
    if (depth_ == 1 && !array) handler_.object();
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  Handler& handler_;
  int depth_ = 0;
  bool array_ = false;
  size_t keys_ = 0;
  std::string fault_, excess_;
  size_t position_ = 1;
};

template <class Handler>
void parse_line(const LineReader& lines, std::string_view line, Handler& handler) {
  FieldsSax<Handler> sax(handler);
  Json::sax_parse(line.begin(), line.end(), &sax);
  if (!sax.excess().empty()) lines.window().fail(lines.line(), 1, sax.excess());
  if (!sax.fault().empty()) {
    lines.window().fail(lines.line(), std::max<size_t>(sax.position(), 1),
                        "no valid JSON: " + printable(sax.fault(), 160));
  }
}

// The next line that has more than blanks.
bool next_line(LineReader& lines, std::string_view& line) {
  char *begin = nullptr, *end = nullptr;
  while (lines.next(begin, end)) {
    line = {begin, static_cast<size_t>(end - begin)};
    if (!trim(line).empty()) return true;
  }
  return false;
}

// All fields of one line, for the guess.
struct AllFields {
  std::vector<std::string> names;
  SampleRow values;
  void key(std::string name) {
    names.push_back(std::move(name));
    values.emplace_back();
  }
  bool value(int, std::string text, bool is_string) {
    if (is_string && values.back().empty()) values.back() = std::move(text);
    return true;
  }
  void object() {}
};

// The fields of one record. The names are few: comparing is quicker than a map.
struct Fields {
  std::string text_name, second_name, label_name;
  std::string* now = nullptr;
  bool at_label = false, has_text = false, has_second = false;
  std::string text, second, wrong;  // wrong: the field that is no string
  std::vector<std::string> labels;
  std::string name;

  void clear() {
    has_text = has_second = false;
    wrong.clear();
    labels.clear();
  }
  void key(std::string key) {
    name = std::move(key);
    now = name == text_name                             ? &text
          : !second_name.empty() && name == second_name ? &second
                                                        : nullptr;
    at_label = !label_name.empty() && name == label_name;
    if (at_label) labels.clear();
  }
  // False with more labels than a record may have.
  bool value(int depth, std::string value, bool is_string) {
    if (at_label && labels.size() == kMostLabels) return false;
    if (at_label) labels.push_back(std::move(value));
    if (now == nullptr) return true;
    if (!is_string || depth != 1) {
      wrong = name;
      return true;
    }
    *now = std::move(value);
    (now == &text ? has_text : has_second) = true;
    return true;
  }
  void object() {
    if (at_label || now) wrong = name;
  }
};

class JsonlReader : public RecordReader {
 public:
  JsonlReader(Window window, const ReadOptions& options)
      : RecordReader(window.name()), separator_(options.label_separator) {
    guess(window, options);
    lines_ = std::make_unique<LineReader>(std::move(window));
  }
  double done() const override { return lines_->window().done(); }
  std::vector<Column> columns() const override { return columns_; }

 protected:
  bool read(Record& record) override {
    std::string_view line;
    if (!next_line(*lines_, line)) return false;
    fields_.clear();
    parse_line(*lines_, line, fields_);
    const auto fail = [&](std::string_view what, const std::string& name) {
      lines_->window().fail(lines_->line(), 1, fmt::format("{} \"{}\"", what, printable(name, 60)));
    };
    if (!fields_.wrong.empty()) fail("no string, or for labels a list of them, in", fields_.wrong);
    if (!fields_.has_text) fail("no field", fields_.text_name);
    if (!fields_.second_name.empty() && !fields_.has_second) fail("no field", fields_.second_name);
    record.text = fields_.text;
    record.second = fields_.has_second ? std::string_view(fields_.second) : std::string_view();
    record.file = lines_->window().name();
    record.line = lines_->line();
    for (const std::string& label : fields_.labels) add_labels(label, separator_, record);
    return true;
  }

 private:
  // By the fields of the first line that is not blank, however long it is.
  void guess(Window& window, const ReadOptions& options) {
    size_t start = 0;
    while ((start < window.size() || window.more()) && trim({window.data() + start, 1}).empty())
      ++start;
    const size_t newline = window.find('\n', start);
    const std::string copy(window.data(), std::min(newline, window.size()));
    LineReader lines(Window(bytes_of(copy), window.name(), options.record_limit));
    std::string_view line;
    AllFields all;
    if (next_line(lines, line)) parse_line(lines, line, all);
    if (all.names.empty()) {  // an empty object: the columns must be as asked for, or the defaults
      all.names = {"text", "label"};
      all.values = {"", ""};
    }
    const ColumnChoice choice =
        choose_columns(place_of(window.name()), all.names, {all.values}, options);
    fields_.text_name = all.names[static_cast<size_t>(choice.text)];
    if (choice.second >= 0) fields_.second_name = all.names[static_cast<size_t>(choice.second)];
    if (choice.label >= 0) fields_.label_name = all.names[static_cast<size_t>(choice.label)];
    columns_ = describe_columns(choice, all.names, all.names.size());
  }

  std::unique_ptr<LineReader> lines_;
  std::string separator_;
  Fields fields_;
  std::vector<Column> columns_;
};

bool matches(const Input& input) {
  for (const std::string_view end : {".jsonl", ".ndjson", ".json"}) {
    if (input.name.ends_with(end)) return true;
  }
  return input.nameless() && input.head().starts_with('{');
}

std::unique_ptr<RecordReader> open(Input input, const ReadOptions& options) {
  return std::make_unique<JsonlReader>(std::move(*input.window), options);
}

}  // namespace

extern const Format kJsonl = {
    .name = "jsonl",
    .summary = "One JSON object a line; labels are a string, a number or a list of them",
    .layout = "{\"text\": \"...\", \"label\": \"...\"}",
    .takes_folders = false,
    .takes_files = true,
    .pixels = false,
    .matches = matches,
    .splits = nullptr,
    .open = open,
};

}  // namespace linnet
