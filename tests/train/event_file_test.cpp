// event_file_test.cpp -- checksums and names of event files; tests/cli/tensorboard_test.sh reads
// them.
#include "train/event_file.h"

#include <gtest/gtest.h>

namespace linnet {
namespace {

// From RFC 3720, B.4.
TEST(EventFile, Crc32c) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(EventFile, EveryStartHasAFileBehindTheOthers) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("linnet_events_" + std::to_string(getpid()));
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    EventFile file(folder, i);
    const Scalar scalars[] = {{"a", 0.5}};
    file.write(i, scalars);
    std::string last;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      last = std::max(last, entry.path().filename().string());
    names.push_back(last);
  }
  EXPECT_LT(names[0], names[1]);
  EXPECT_LT(names[1], names[2]);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace linnet
