// memory_budget_test.cpp -- sizes as texts, what a machine and its control groups have, and the
// sentence of what does not fit.
#include "core/memory_budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "core/error.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

TEST(MemoryBudget, TakesASizeWithItsUnit) {
  EXPECT_EQ(MemoryBudget("512M").bytes(), 512e6);
  EXPECT_EQ(MemoryBudget("1.5G").bytes(), 1.5e9);
  EXPECT_EQ(MemoryBudget("2000K").bytes(), 2e6);
  EXPECT_GT(MemoryBudget().bytes(), 0);
  EXPECT_TRUE(std::isfinite(MemoryBudget().bytes()));
  // Plain bytes are most likely a unit that was forgotten.
  for (const char* wrong : {"512", "M", "-1G", "1e400G", "nanG", "infG", "0x10M", "1 G", "1T", "0K",
                            "999K", "99999999999999999999G", "1GB", " 1G"})
    EXPECT_THROW(MemoryBudget{wrong}, Error) << wrong;
}

TEST(MemoryBudget, SaysWhatWeighsMost) {
  MemoryNeed need;
  need.add("train.window", "the window of 10 tokens", 1e6);
  need.add("config.width", "3 blocks of width 8", 70e6);
  need.add("config.vocab", "9 ids", 50e6);
  MemoryBudget("121M").check("to train", need);
  try {
    MemoryBudget("100M").check("to train", need);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "[config.width] to train takes 121 MB; the budget is 100 MB (--memory): "
                 "70 MB for 3 blocks of width 8");
  }
  need.add("config.blocks", "everything", std::numeric_limits<double>::infinity());
  EXPECT_THROW(MemoryBudget("1000000G").check("to train", need), Error);
}

// A machine of files.
class MachineTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "linnet_machine_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    put("proc/meminfo", "MemTotal:       1000000 kB\nMemFree:        5 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& content) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }
  fs::path root_;
};

TEST_F(MachineTest, WithoutGroups) { EXPECT_EQ(machine_memory(root_), 1'024'000'000); }

TEST_F(MachineTest, VersionTwoAndTheGroupsAround) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(machine_memory(root_), 1'024'000'000);
  put("sys/fs/cgroup/a/memory.max", "600000000\n");
  EXPECT_EQ(machine_memory(root_), 600'000'000);
  put("sys/fs/cgroup/a/b/memory.max", "500000000\n");
  EXPECT_EQ(machine_memory(root_), 500'000'000);
}

TEST_F(MachineTest, VersionOneAlsoWithAPathOfTheHost) {
  put("proc/self/cgroup", "9:cpu,cpuacct:/x\n4:memory:/host/only\n0::/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(machine_memory(root_), 1'024'000'000);
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "300000000\n");
  EXPECT_EQ(machine_memory(root_), 300'000'000);
  put("sys/fs/cgroup/memory/host/only/memory.limit_in_bytes", "200000000\n");
  EXPECT_EQ(machine_memory(root_), 200'000'000);
}

}  // namespace
}  // namespace linnet
