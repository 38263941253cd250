// terminal.h -- what a person sees: error lines, a progress bar, aligned tables.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace linnet {

// "linnet: MESSAGE" on stderr.
void print_error(const std::string& message);

// Whether a person reads stderr.
bool stderr_is_terminal();

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start);

// One line on stderr that is drawn again and again; nothing when stderr is no terminal, but the
// last line.
class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // done in 0 .. 1; note stands behind the bar. Draws at most ten times a second.
  void show(double done, const std::string& note);

 private:
  void draw(double done, const std::string& note);
  std::string title_, last_note_;
  double last_done_ = 0;
  bool terminal_, shown_ = false;
  Clock::time_point start_, last_;
};

// Rows of cells as aligned columns, made printable; the first row is the header, numbers go to the
// right.
std::string format_table(std::vector<std::vector<std::string>> rows);

// "1,234,567".
std::string with_commas(int64_t n);

}  // namespace linnet
