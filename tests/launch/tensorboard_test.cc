// Tests core/event_file.h as a user would: TensorBoard's own reader finds the numbers of metrics.csv.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

TEST(TensorBoard, ReadsWhatTheCsvSays) {
  const std::string python = std::string(GRIPSTREAM_DEPS_DIR) + "/venv/bin/python";
  Command probe({python, "-c", "import tensorboard"});
  if (probe.Wait(60) != 0) GTEST_SKIP() << "TensorBoard is not installed: tools/setup.sh --tests";
  const ScratchFolder folder;
  ASSERT_EQ(RunGripstream(TinyRun(folder / "run")).code, 0);
  Command reader(
      {python, std::string(GRIPSTREAM_SOURCE_DIR) + "/tests/launch/read_events.py", folder / "run/tensorboard"});
  ASSERT_EQ(reader.Wait(120), 0) << reader.Output();

  std::ifstream csv(folder / "run/metrics.csv");
  std::string header, row;
  std::getline(csv, header);
  int rows = 0;
  while (std::getline(csv, row)) {
    std::istringstream names(header), values(row);
    std::string name, value, iteration;
    std::getline(names, name, ',');
    std::getline(values, iteration, ',');
    while (std::getline(names, name, ',') && std::getline(values, value, ',')) {
      char expected[128];
      // The event file holds float32.
      std::snprintf(expected, sizeof(expected), "%s %s %.6g\n", name.c_str(), iteration.c_str(),
                    static_cast<double>(std::stof(value)));
      EXPECT_THAT(reader.Output(), testing::HasSubstr(expected));
    }
    ++rows;
  }
  EXPECT_EQ(rows, 2);
  EXPECT_THAT(reader.Output(), testing::ContainsRegex("evaluation/episodes 2 [1-9][0-9]+x[1-9][0-9]+ PNG"));
}

}  // namespace
}  // namespace gripstream
