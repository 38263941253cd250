// memory_budget.h -- how much memory linnet may take, and what a piece of work would take: reckoned
// before anything of its size is allocated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

// Bytes as a text: "17.6 GB", "512 MB"; of as many as a double holds.
std::string bytes_text(double bytes);

// What something would take, part by part. In double, which no product of settings overflows.
class MemoryNeed {
 public:
  // `place` names the setting that weighs most in the part, e.g. "config.width"; `what` says the
  // part and its settings.
  void add(std::string place, std::string what, double bytes);
  void add(const MemoryNeed& other);
  double bytes() const;

 private:
  friend class MemoryBudget;
  struct Part {
    std::string place, what;
    double bytes;
  };
  std::vector<Part> parts_;
};

class MemoryBudget {
 public:
  // "512M" or "1.5G" (K, M and G are powers of 1000, as in linnet's figures); empty: three quarters
  // of what the machine has. The rest is for the system, for pages of the files that are read, and
  // for what is not reckoned: tokenizers, records, the program itself.
  explicit MemoryBudget(std::string_view text = "");

  double bytes() const { return bytes_; }
  // An Error where `need` is more, e.g. "[config.width] to train takes 34.4 GB; the budget is
  // 17.6 GB (--memory): ...", with the parts that weigh most. `what`: "to train".
  void check(std::string_view what, const MemoryNeed& need) const;

 private:
  double bytes_;
};

// Bytes of the machine, or of the control group that this process is in (version 1 or 2) where that
// has less. `root`: where /proc and /sys are.
double machine_memory(const std::filesystem::path& root = "/");

}  // namespace linnet
