// profiles.cpp -- the sizes of the LRA recipe, the rows of Table 1 and those beside them.
#include "models/profiles.h"

#include <fmt/format.h>

#include <span>

#include "core/error.h"
#include "core/file.h"

namespace linnet {
namespace {

struct Task {
  std::string_view name, task;
  int64_t vocab, classes, length, width, heads, blocks, hidden, head_units;
};
// Sizes of the `paper` profile: those of Long Range Arena (Tay et al. 2021).
constexpr Task kPaperTasks[] = {
    {"text", "classify", 256, 2, 4000, 256, 4, 4, 1024, 1024},
    {"matching", "match", 256, 2, 4000, 128, 4, 4, 512, 512},
    {"listops", "classify", 17, 10, 2000, 512, 8, 6, 2048, 2048},
};

// Sizes of the `desk` profile: a run of a few minutes on two cores; the same tasks at the same
// lengths.
constexpr Task kDeskTasks[] = {
    {"text", "classify", 256, 2, 4000, 32, 4, 2, 128, 64},
    {"matching", "match", 256, 2, 4000, 32, 4, 1, 128, 64},
    {"listops", "classify", 17, 10, 2000, 64, 4, 2, 256, 128},
};

struct Row {
  std::string_view name, mixer, phi;
  std::string_view ffn = "gelu";  // at the parameters of gelu
};
// First the rows of Table 1; then the other systems of the papers, and the polynomial layers in
// each of their three places.
constexpr Row kRows[] = {
    {"transformer", "softmax", "softplus"},
    {"linear-kernel", "kernel", "softplus"},
    {"1xglu", "kernel", "1xglu"},
    {"2xglu", "kernel", "2xglu"},
    {"3xglu", "kernel", "3xglu"},
    {"orth-linear", "kernel", "orth-softplus"},
    {"1xoglu", "kernel", "1xoglu"},
    {"2xoglu", "kernel", "2xoglu"},
    {"3xaoglu", "kernel", "3xaoglu"},
    {"performer", "performer", "softplus"},
    {"linear-transformer", "linear-transformer", "softplus"},
    {"linformer", "linformer", "softplus"},
    {"nystromformer", "nystromformer", "softplus"},
    {"ffn-relu2", "kernel", "softplus", "relu2"},
    {"ffn-bilinear", "kernel", "softplus", "bilinear"},
    {"ffn-squares", "kernel", "softplus", "squares-linear"},
    {"phi-relu2", "kernel", "relu2"},
    {"phi-bilinear", "kernel", "bilinear"},
    {"phi-squares", "kernel", "linear>squares"},
    {"poly-relu2", "poly-relu2", "softplus"},
    {"poly-bilinear", "poly-bilinear", "softplus"},
    {"poly-squares", "poly-squares-linear", "softplus"},
    {"scan", "scan", "softplus"},
    {"gated-scan", "gated-scan", "softplus"},
};
constexpr size_t kTable1Rows = 9;

constexpr std::string_view kProfiles[] = {"paper", "desk"};

std::string_view name_of(std::string_view name) { return name; }
template <class Named>
std::string_view name_of(const Named& named) {
  return named.name;
}

template <class List>
std::string names(const List& list) {
  std::string all;
  for (const auto& item : list) all += (all.empty() ? "" : ", ") + std::string(name_of(item));
  return all;
}

// `of`: whose list it is, e.g. " of profile desk".
template <class List>
const auto& pick(const List& list, const char* what, std::string_view name,
                 const std::string& of = "") {
  for (const auto& item : list) {
    if (name_of(item) == name) return item;
  }
  throw Error(fmt::format("[--{}] no such {}{}: \"{}\"; there are: {}", what, what, of,
                          printable(name), names(list)));
}

}  // namespace

ModelConfig profile_config(std::string_view profile, std::string_view task, std::string_view row) {
  const std::string of = fmt::format(" of profile {}", pick(kProfiles, "profile", profile));
  const Task& t = pick(profile == "paper" ? kPaperTasks : kDeskTasks, "task", task, of);
  ModelConfig config;
  apply_row(row, config);
  config.task = t.task;
  config.vocab = t.vocab;
  config.classes = t.classes;
  config.length = t.length;
  config.width = t.width;
  config.heads = t.heads;
  config.blocks = t.blocks;
  config.hidden = t.hidden;
  config.head_units = t.head_units;
  if (profile == "desk" && t.vocab == 256) config.dropout = 0;
  if (profile == "desk" && t.name == "text") {
    // Small beside what the blocks add: so few steps do not outgrow them.
    config.init_embed = 0.1;
    // A phi that tells bytes apart from the start: a mean of all says little of a few.
    if (config.mixer == "kernel") config.init_qk = 4;
  }
  // That two texts are near each other, in the first order: as a product it is of the second.
  if (profile == "desk" && t.name == "matching") config.pair = "distance";
  return config;
}

void apply_row(std::string_view row, ModelConfig& config) {
  const Row& r = pick(kRows, "row", row);
  config.mixer = r.mixer;
  config.first_mixer.clear();
  config.phi = r.phi;
  config.ffn = r.ffn;
  config.ffn_match = r.ffn == "gelu" ? "none" : "params";
}

std::vector<std::string> table1_rows() {
  std::vector<std::string> rows;
  for (const Row& row : std::span(kRows).first(kTable1Rows)) rows.emplace_back(row.name);
  return rows;
}

std::string profile_names() { return names(kProfiles); }
std::string profile_tasks() { return names(kPaperTasks); }
std::string profile_rows() { return names(kRows); }

}  // namespace linnet
