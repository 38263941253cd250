// formats.cpp -- the list of formats; finds the one of an input.
#include "data/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "core/file.h"
#include "core/registry.h"
#include "data/ascii.h"

namespace linnet {

extern const Format kAclImdb, kCitations, kCifar10, kPathfinder, kLraAan, kLraListops, kImdbTsv,
    kConll, kCsv, kTsv, kJsonl, kFasttext, kPlainText;

std::span<const Format* const> formats() {
  // The first that matches is taken: public layouts, which are sure of themselves, then the rest.
  static constexpr const Format* kList[] = {
      &kAclImdb, &kCitations, &kCifar10,  &kPathfinder, &kLraAan, &kLraListops, &kImdbTsv,
      &kConll,   &kJsonl,     &kFasttext, &kTsv,        &kCsv,    &kPlainText,
  };
  return kList;
}

namespace {

constexpr size_t kHead = size_t{1} << 16;

std::string plain_name(const std::string& path) {
  std::string name = lower_case(std::filesystem::path(path).filename().string());
  for (const std::string_view packed : {".gz", ".xz", ".zst", ".bz2", ".lz4"}) {
    if (name.ends_with(packed)) name.erase(name.size() - packed.size());
  }
  return name;
}

Input file_input(const std::string& path, const ReadOptions& options) {
  const std::string name = path == "-" ? "standard input" : path;
  Input input{.path = name, .name = plain_name(path), .tree = nullptr, .window = nullptr};
  input.window = std::make_unique<Window>(open_bytes(path), name, options.record_limit);
  input.window->ensure(kHead);
  return input;
}

// Nobody shall believe to have asked for a split where there is but `only`, or none.
void check_split(const std::string& path, const ReadOptions& options, std::string_view only) {
  if (!options.split.empty() && options.split != only)
    throw Error(fmt::format("[{}] has no split {}", place_of(path), printable(options.split, 40)));
}

Input tree_input(const std::string& path, std::unique_ptr<FileTree> tree) {
  if (tree->files().empty()) throw Error(fmt::format("[{}] has no files", place_of(path)));
  return {.path = path, .name = plain_name(path), .tree = std::move(tree), .window = nullptr};
}

const Format* format_of(const Input& input, const ReadOptions& options) {
  const auto takes = [&](const Format* format) {
    return input.tree ? format->takes_folders : format->takes_files;
  };
  if (!options.format.empty()) {
    const Format* named = &find_in(formats(), "format", options.format);
    return takes(named) ? named : nullptr;
  }
  for (const Format* format : formats()) {
    if (takes(format) && format->matches(input)) return format;
  }
  return nullptr;
}

// The files of a folder by the split that their name speaks of.
std::map<std::string, std::vector<std::string>> split_files(const FileTree& tree) {
  std::map<std::string, std::vector<std::string>> result;
  for (const std::string& file : tree.files()) {
    if (file.find('/') != file.npos) continue;
    const std::string split = split_of_name(file);
    if (!split.empty()) result[split].push_back(file);
  }
  return result;
}

std::string some_names(const std::vector<std::string>& files) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(files.size(), kShown); ++i)
    text += (i ? ", " : "") + printable(files[i], 60);
  return files.size() > kShown ? text + fmt::format(" and {} more", files.size() - kShown) : text;
}

// The one file of a folder that the split is in.
std::string file_of_split(const Input& input, const std::string& split) {
  const auto files = split_files(*input.tree);
  const auto found = files.find(split.empty() ? "train" : split);
  const std::string place = place_of(input.path);
  if (found == files.end() && split.empty()) {
    throw Error(
        fmt::format("[{}] is no layout that linnet knows, and has no file with train in its "
                    "name: {}; name one of them, or give --format",
                    place, some_names(input.tree->files())));
  }
  if (found == files.end()) {
    throw Error(fmt::format("[{}] has no {} split among: {}", place, printable(split, 40),
                            some_names(input.tree->files())));
  }
  if (found->second.size() > 1) {
    throw Error(fmt::format("[{}] has several files of the {} split: {}; name one of them", place,
                            found->first, some_names(found->second)));
  }
  return input.tree->path_of(found->second[0]);
}

}  // namespace

std::string_view Input::head() const {
  return window ? std::string_view(window->data(), std::min(window->size(), kHead))
                : std::string_view();
}

std::string split_of_name(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"train", "train"},           {"training", "train"},
      {"val", "validation"},        {"valid", "validation"},
      {"validation", "validation"}, {"dev", "validation"},
      {"eval", "validation"},       {"test", "test"},
      {"unsup", "unlabelled"},      {"unlabelled", "unlabelled"},
      {"unlabeled", "unlabelled"}};
  const std::string text = lower_case(name);
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
    for (const auto& [word, split] : kWords) {
      if (text.compare(at, end - at, word) == 0) return std::string(split);
    }
    at = end + 1;
  }
  return "";
}

OpenData open_data(Input input, const ReadOptions& options) {
  const Format* format = format_of(input, options);
  if (!format && input.tree)
    return open_data(file_input(file_of_split(input, options.split), options), options);
  if (!format) {
    throw Error(fmt::format("[{}] {}", place_of(input.path),
                            options.format.empty()
                                ? "is no layout that linnet knows; give --format"
                                : "format " + options.format + " is a folder, this is a file"));
  }
  std::string path = input.path;
  if (input.tree && format->splits(input).empty()) check_split(path, options, "train");
  return {format, std::move(path), format->open(std::move(input), options)};
}

std::string file_of_data(const std::string& path, const ReadOptions& options) {
  std::unique_ptr<FileTree> tree = open_tree(path);
  if (!tree) return path;
  if (!tree->random_access() && tree->files().size() == 1) return tree->path_of(tree->files()[0]);
  const Input input = tree_input(path, std::move(tree));
  return format_of(input, options) ? path : file_of_split(input, options.split);
}

OpenData open_data(const std::string& path, const ReadOptions& options) {
  std::unique_ptr<FileTree> tree = open_tree(path);
  if (!tree) {
    check_split(path, options, "");
    return open_data(file_input(path, options), options);
  }
  if (!tree->random_access() && tree->files().size() == 1) {
    const std::string& file = tree->files()[0];
    check_split(path, options, split_of_name(file));
    return open_data(file_input(tree->path_of(file), options), options);
  }
  return open_data(tree_input(path, std::move(tree)), options);
}

std::vector<std::string> splits_of(const std::string& path, const ReadOptions& options) {
  std::unique_ptr<FileTree> tree = open_tree(path);
  if (!tree) return {};  // a pipe must not be read twice
  const Input input = tree_input(path, std::move(tree));
  if (const Format* format = format_of(input, options)) return format->splits(input);
  std::vector<std::string> splits;
  const auto files = split_files(*input.tree);
  for (const char* split : {"train", "validation", "test", "unlabelled"}) {
    if (files.contains(split)) splits.emplace_back(split);
  }
  return splits;
}

}  // namespace linnet
