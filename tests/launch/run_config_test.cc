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
    if (entry.path().extension() != ".yaml") continue;
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
  same.runtime.on_loss = "replace";
  same.runtime.respawns = 9;
  same.sim.spares = 2;
  EXPECT_EQ(AgreementHash(same), hash);
  RunConfig other = config;
  other.task.decimation += 1;
  EXPECT_NE(AgreementHash(other), hash);
  other = config;
  other.run.seed += 1;
  EXPECT_NE(AgreementHash(other), hash);
}

std::string RefusalOf(const std::vector<std::string>& overrides) {
  try {
    ReadRunConfig(std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml", overrides);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(RunConfig, WhatHappensOnLossesIsRefusedByNameWhereNothingCanBeLost) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_EQ(RefusalOf({"runtime.on_loss=replace", "sim.spares=1", "runtime.respawns=0", "runtime.rejoin_s=0"}), "");
  EXPECT_THAT(RefusalOf({"runtime.on_loss=perhaps"}), AllOf(HasSubstr("runtime.on_loss"), HasSubstr("perhaps")));
  EXPECT_THAT(RefusalOf({"runtime.on_loss=replace", "wire.transport=inproc"}),
              AllOf(HasSubstr("runtime.on_loss"), HasSubstr("inproc")));
  EXPECT_THAT(RefusalOf({"runtime.on_loss=replace", "runtime.mode=data_parallel"}), HasSubstr("runtime.on_loss"));
  EXPECT_THAT(RefusalOf({"runtime.on_loss=replace", "runtime.mode=lockstep", "runtime.inference=simulator"}),
              AllOf(HasSubstr("runtime.on_loss"), HasSubstr("runtime.inference simulator")));
  for (const char* alone : {"sim.spares=1", "runtime.respawns=5", "runtime.rejoin_s=3", "runtime.replace_within_s=5"}) {
    const std::string key = std::string(alone).substr(0, std::string(alone).find('='));
    EXPECT_THAT(RefusalOf({alone}), AllOf(HasSubstr(key), HasSubstr("runtime.on_loss stop")));
  }
  EXPECT_THAT(RefusalOf({"runtime.respawns=-1"}), HasSubstr("runtime.respawns"));
}

TEST(RunConfig, ClosingWithoutStragglersIsForStaleAsynchronousRunsAlone) {
  using testing::HasSubstr;
  const std::vector<std::string> good = {"runtime.mode=async", "runtime.max_staleness=2", "run.deterministic=false",
                                         "runtime.close_fraction=0.5"};
  EXPECT_EQ(RefusalOf(good), "");
  for (const char* instead : {"runtime.mode=lockstep", "runtime.max_staleness=0", "run.deterministic=true",
                              "runtime.close_fraction=0", "runtime.close_fraction=1.5"}) {
    std::vector<std::string> bad = good;
    bad.push_back(instead);
    if (std::string(instead) == "runtime.mode=lockstep") bad.push_back("runtime.max_staleness=0");
    EXPECT_THAT(RefusalOf(bad), HasSubstr("runtime.close_fraction")) << instead;
  }
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
