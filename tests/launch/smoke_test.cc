// Runs every file of configs/ as a user would, cut to a few environments and one iteration: a new one is tested by
// being there.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ConfigFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(GRIPSTREAM_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class EveryConfig : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Smoke, EveryConfig, testing::ValuesIn(ConfigFiles()),
                         [](const auto& one) { return fs::path(one.param).stem().string(); });

// The Python package that a configuration's robot comes from, where that is not installed; else empty.
std::string MissingPackage(const std::string& output) {
  const size_t at = output.find("package:");
  if (output.find("not installed") == std::string::npos || at == std::string::npos) return "";
  return output.substr(at, output.find(' ', at) - at);
}

TEST_P(EveryConfig, IsDescribedAndTrainsAnIteration) {
  fs::current_path(GRIPSTREAM_SOURCE_DIR);  // where configurations name their models from
  const Ended described = RunGripstream({"describe", GetParam()});
  if (const std::string package = MissingPackage(described.output); !package.empty())
    GTEST_SKIP() << package << " is not installed: tools/setup.sh --tests";
  ASSERT_EQ(described.code, 0) << described.output;
  const ScratchFolder folder;
  std::vector<std::string> arguments = {"train", GetParam()};
  for (const std::string& assignment :
       {"run.dir=" + folder / "run", std::string("train.iterations=1"), std::string("sim.processes=1"),
        std::string("sim.envs=8"), std::string("physics.threads=1"), std::string("ppo.horizon=4"),
        std::string("ppo.minibatch=16"), std::string("ppo.sequence=4"), std::string("ppo.threads=1"),
        std::string("policy.inference_chunk=4"), std::string("policy.actor_rnn.units=16"),
        std::string("policy.critic_rnn.units=16"), std::string("eval.episodes=8"), std::string("eval.sheet_rows=1"),
        std::string("task.episode_s=1")})
    arguments.insert(arguments.end(), {"--set", assignment});
  const Ended trained = RunGripstream(arguments);
  ASSERT_EQ(trained.code, 0) << trained.output;
  const nlohmann::json results = ReadJson(folder / "run/results.json");
  EXPECT_EQ(results["status"], "completed");
  EXPECT_EQ(results["env_steps"], 8 * 4);
  EXPECT_EQ(results["faults"], 0) << trained.output;
}

}  // namespace
}  // namespace gripstream
