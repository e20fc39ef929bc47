// Tests launch/run_config.h.
#include "launch/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"

namespace gripstream {
namespace {

TEST(RunConfig, EveryShippedConfigurationReadsAndWritesBackTheSame) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(GRIPSTREAM_SOURCE_DIR) + "/configs")) {
    const RunConfig config = ReadRunConfig(entry.path(), {});
    const std::string text = ToYaml(config);
    EXPECT_EQ(ToYaml(ReadRunConfigText(text, "again", {})), text) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 2);
}

TEST(RunConfig, RolesAgreeWhateverTheFolderTheAddressAndTheCourse) {
  const RunConfig config;
  const uint64_t hash = AgreementHash(config);
  RunConfig same = config;
  same.run.dir = "elsewhere";
  same.wire.address = "@name";
  same.train.iterations = 7;
  same.eval.episodes = 3;
  EXPECT_EQ(AgreementHash(same), hash);
  RunConfig other = config;
  other.task.decimation += 1;
  EXPECT_NE(AgreementHash(other), hash);
  other = config;
  other.run.seed += 1;
  EXPECT_NE(AgreementHash(other), hash);
}

TEST(RunConfig, NamesThatScriptsRelyOnAreThere) {
  const RunConfig config;
  const std::string reference = ToReference(config);
  for (const char* key : {"run.dir",
                          "run.seed",
                          "run.deterministic",
                          "train.iterations",
                          "sim.processes",
                          "sim.envs",
                          "sim.reserve_bytes_per_env",
                          "render.width",
                          "render.height",
                          "render.backend",
                          "wire.transport",
                          "wire.deadline_s",
                          "runtime.mode",
                          "runtime.max_staleness",
                          "runtime.inference",
                          "physics.backend",
                          "task.name",
                          "task.model",
                          "policy.name",
                          "learner.processes",
                          "learner.gradient_delay",
                          "learner.trusted_network",
                          "launch.slurm.job"}) {
    EXPECT_THAT(reference, testing::HasSubstr("`" + std::string(key) + "`"));
  }
}

}  // namespace
}  // namespace gripstream
