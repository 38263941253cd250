// arena_data.cpp -- paths of data by task; ListOps is generated.
#include "cli/arena_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/data.h"
#include "core/error.h"
#include "core/file.h"
#include "data/formats.h"

namespace linnet {

std::map<std::string, std::string> arena_paths(const std::vector<std::string>& tasks,
                                               const std::vector<std::string>& given,
                                               const std::string& folder) {
  std::map<std::string, std::string> paths;
  for (const std::string& entry : given) {
    const size_t equal = entry.find('=');
    if (equal == entry.npos)
      throw Error(fmt::format("[--data] must be TASK=PATH, not \"{}\"", printable(entry, 60)));
    paths[entry.substr(0, equal)] = entry.substr(equal + 1);
  }
  for (const std::string& task : tasks) {
    if (paths.contains(task)) continue;
    if (task != "listops")
      throw Error(fmt::format("[--data] where is the data of {}? --data {}=PATH", task, task));
    paths[task] = folder + "/data/listops";
    if (!std::filesystem::exists(paths[task] + "/basic_test.tsv"))
      write_listops_splits(paths[task], ListopsRule(), 1, 96'000, 2'000, 10'000);
  }
  return paths;
}

std::vector<LadderRung> arena_ladder(Context& context, const std::string& path) {
  ReadOptions read;
  const std::vector<std::string> splits = splits_of(path, read);
  if (std::ranges::find(splits, "test") != splits.end()) read.split = "test";
  return listops_ladder(context, read_listops(path, read, kLadderTrees), 1);
}

}  // namespace linnet
