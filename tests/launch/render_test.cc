// Tests sim_server/render_model.h through `gripstream render`.
#include <gmock/gmock.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

const std::string kModel = std::string(GRIPSTREAM_SOURCE_DIR) + "/envs/assets/kuka_allegro.xml";

// Width and height from a PNG's first chunk.
std::pair<uint32_t, uint32_t> SizeOfPng(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  unsigned char head[24] = {};
  in.read(reinterpret_cast<char*>(head), sizeof(head));
  const auto number = [&](int at) {
    return uint32_t{head[at]} << 24 | uint32_t{head[at + 1]} << 16 | uint32_t{head[at + 2]} << 8 | head[at + 3];
  };
  return {number(16), number(20)};
}

TEST(Render, PutsEveryModalityAskedForSideBySide) {
  const ScratchFolder folder;
  const Ended ended = RunGripstream({"render", kModel, "--camera", "depth", "--modalities", "depth,rgb,seg,normals",
                                     "--width", "160", "--height", "120", "-o", folder / "all.png"});
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto [width, height] = SizeOfPng(folder / "all.png");
  EXPECT_GE(width, 4 * 160u);
  EXPECT_GE(height, 120u);
}

TEST(Render, RefusesWhatIsNotThereInOneLine) {
  const ScratchFolder folder;
  const auto expect_refused = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.begin(), "render");
    more.insert(more.end(), {"-o", folder / "no.png"});
    const Ended ended = RunGripstream(more);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(folder / "no.png"));
  };
  expect_refused({"no/such.xml"}, "no/such.xml");
  expect_refused({kModel, "--camera", "dept"}, "depth");
  expect_refused({kModel, "--modalities", "smell"}, "smell");
  expect_refused({kModel, "--width", "0"}, "--width");
  expect_refused({kModel, "--far", "nan"}, "--far");
  expect_refused({kModel, "--backend", "mujoco", "--modalities", "depth,normals"}, "--modalities");
  std::ofstream(folder / "unnamed.xml") << "<mujoco><worldbody><camera/></worldbody></mujoco>";
  expect_refused({folder / "unnamed.xml"}, "--camera");
}

}  // namespace
}  // namespace gripstream
