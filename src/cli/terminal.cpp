// terminal.cpp -- progress bar and tables.
#include "cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "cli/streams.h"

namespace linnet {

void print_error(const std::string& message) { print_note("linnet: {}\n", message); }

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool stderr_is_terminal() { return isatty(2) != 0; }

Progress::Progress(std::string title)
    : title_(std::move(title)),
      terminal_(stderr_is_terminal()),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (!shown_) return;
  draw(last_done_, last_note_);
  print_note("\n");
}

void Progress::draw(double done, const std::string& note) {
  constexpr int kWidth = 24;
  const int full = static_cast<int>(std::lround(std::clamp(done, 0.0, 1.0) * kWidth));
  const double spent = seconds_since(start_);
  std::string left;
  if (done > 0.02 && done < 1) left = fmt::format(", {:.0f} s left", spent / done * (1 - done));
  if (terminal_) write_note("\r");
  print_note("{} [{}{}] {:3.0f}%  {}{}", title_, std::string(static_cast<size_t>(full), '#'),
             std::string(static_cast<size_t>(kWidth - full), '.'), done * 100, note, left);
  if (terminal_) write_note("\x1b[K");
}

void Progress::show(double done, const std::string& note) {
  shown_ = true;
  last_done_ = done;
  last_note_ = note;
  if (!terminal_ || std::chrono::duration<double>(Clock::now() - last_).count() < 0.1) return;
  last_ = Clock::now();
  draw(done, note);
}

std::string format_table(std::vector<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) {
      row[c] = printable(row[c], std::string::npos);
      widths[c] = std::max(widths[c], row[c].size());
    }
  }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const std::string& cell = rows[r][c];
      // Columns whose first value starts with a digit or sign are numbers.
      const std::string& sample = rows.size() > 1 && c < rows[1].size() ? rows[1][c] : cell;
      const bool number = !sample.empty() &&
                          (std::isdigit(static_cast<unsigned char>(sample[0])) || sample[0] == '-');
      line += fmt::format(fmt::runtime(number ? "{:>{}}  " : "{:<{}}  "), cell, widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (r == 0) {
      for (size_t width : widths) out += std::string(width, '-') + "  ";
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n";
    }
  }
  return out;
}

std::string with_commas(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

}  // namespace linnet
