// paper_table.h -- Table 1 of the kernel paper, as printed: the figures that ours stand beside.
#pragma once

#include <span>
#include <string_view>

namespace linnet {

inline constexpr std::string_view kPaperSource =
    "Yorsh and Kovalenko 2022, Table 1: test accuracy in percent, mean of five runs";

struct PaperRow {
  std::string_view row, title;     // linnet's name, the paper's
  double text, matching, listops;  // percent
};

// In the order of the paper.
std::span<const PaperRow> paper_rows();
// Linnet's names of the tasks in the paper's order, and the paper's names of them.
struct PaperTask {
  std::string_view task, title;
  double PaperRow::*figure;
};
std::span<const PaperTask> paper_tasks();

// The paper's accuracy, 0 .. 1; NaN when it has none.
double paper_accuracy(std::string_view task, std::string_view row);
// The paper's name of a row or task, else the name itself.
std::string_view row_title(std::string_view row);
std::string_view task_title(std::string_view task);

}  // namespace linnet
