// Tests launch/command_play.cc: `gripstream play` on a run as small as can be.
#include <gmock/gmock.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Play : public testing::Test {
 protected:
  void SetUp() override {
    const Ended ended = RunGripstream(TinyRun(folder_ / "run", {"eval.sheet_rows=0"}));
    ASSERT_EQ(ended.code, 0) << ended.output;
  }
  void ExpectRefused(std::vector<std::string> more, const std::vector<std::string>& parts) {
    more.insert(more.begin(), {"play", folder_ / "run"});
    const Ended ended = RunGripstream(more, 30);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1) << ended.output;
    for (const std::string& part : parts) EXPECT_THAT(ended.output, HasSubstr(part));
  }
  ScratchFolder folder_;
};

TEST_F(Play, FilmsEpisodesIntoAnMp4AndLeavesTheResultsAlone) {
  const std::string results = folder_ / "run/results.json";
  const auto written = std::filesystem::last_write_time(results);
  const Ended ended = RunGripstream(
      {"play", folder_ / "run", "--episodes", "2", "--width", "160", "--height", "120", "--camera", "stereo_left"});
  ASSERT_EQ(ended.code, 0) << ended.output;
  const std::string film = folder_ / "run/evaluations/iteration_000002.mp4";
  EXPECT_THAT(ended.output, AllOf(HasSubstr(film), HasSubstr("2 episodes")));
  std::ifstream in(film, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  EXPECT_GT(bytes.size(), 2000u);
  EXPECT_EQ(bytes.substr(4, 4), "ftyp");
  EXPECT_EQ(std::filesystem::last_write_time(results), written);
  EXPECT_FALSE(std::filesystem::exists(film + ".part.mp4"));
}

TEST_F(Play, RefusesWhatIsNotThereInOneLine) {
  ExpectRefused({"--camera", "overveiw"}, {"--camera", "did you mean 'overview'"});
  ExpectRefused({"--width", "161"}, {"--width", "161", "even"});
  ExpectRefused({"--episodes", "99"}, {"--episodes", "99", "at most 8"});
  ExpectRefused({"--video", folder_ / "no/such/folder/film.mp4"}, {"--video", "folder"});
  ExpectRefused({"--video", folder_ / "film.avi"}, {"--video", ".mp4"});
}

}  // namespace
}  // namespace gripstream
