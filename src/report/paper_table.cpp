// paper_table.cpp -- the figures; the Transformer's are those of Long Range Arena (Tay et al.
// 2021).
#include "report/paper_table.h"

#include <algorithm>
#include <limits>

namespace linnet {
namespace {

constexpr PaperRow kRows[] = {
    {"transformer", "Transformer", 64.27, 57.46, 36.37},
    {"linear-kernel", "Linear kernel", 65.77, 73.51, 18.54},
    {"1xglu", "1x GLU", 65.82, 72.17, 18.67},
    {"2xglu", "2x GLU", 65.99, 73.36, 18.42},
    {"3xglu", "3x GLU", 65.87, 72.60, 18.68},
    {"orth-linear", "Orth. linear kernel", 65.86, 72.63, 18.19},
    {"1xoglu", "1x OGLU", 65.95, 72.50, 18.45},
    {"2xoglu", "2x OGLU", 66.02, 72.96, 18.32},
    {"3xaoglu", "3x AOGLU", 66.06, 72.57, 18.45},
};

constexpr PaperTask kTasks[] = {
    {"text", "Classification", &PaperRow::text},
    {"matching", "Matching", &PaperRow::matching},
    {"listops", "ListOps", &PaperRow::listops},
};

}  // namespace

std::span<const PaperRow> paper_rows() { return kRows; }
std::span<const PaperTask> paper_tasks() { return kTasks; }

double paper_accuracy(std::string_view task, std::string_view row) {
  const auto t = std::ranges::find(kTasks, task, &PaperTask::task);
  const auto r = std::ranges::find(kRows, row, &PaperRow::row);
  if (t == std::end(kTasks) || r == std::end(kRows))
    return std::numeric_limits<double>::quiet_NaN();
  return (*r).*(t->figure) / 100;
}

std::string_view row_title(std::string_view row) {
  const auto r = std::ranges::find(kRows, row, &PaperRow::row);
  return r == std::end(kRows) ? row : r->title;
}

std::string_view task_title(std::string_view task) {
  const auto t = std::ranges::find(kTasks, task, &PaperTask::task);
  return t == std::end(kTasks) ? task : t->title;
}

}  // namespace linnet
