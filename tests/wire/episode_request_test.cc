// Tests wire/episode_request.h.
#include "wire/episode_request.h"

#include <gtest/gtest.h>

namespace gripstream {
namespace {

TEST(EpisodeRequest, ReadsBackWhatWasEncoded) {
  EpisodeRequest request;
  request.evaluation = true;
  request.held_out = true;
  request.seed = 0xFFFFFFFFFFFFFFFFu;
  request.first_episode = 4096;
  request.episodes = 300;
  request.shown = 6;
  request.picture_path = "/tmp/film.mp4";
  request.camera = "overview";
  request.width_px = 320;
  request.height_px = 240;
  const EpisodeRequest again = EpisodeRequest::Decode(request.Encode());
  EXPECT_EQ(again.evaluation, request.evaluation);
  EXPECT_EQ(again.held_out, request.held_out);
  EXPECT_EQ(again.seed, request.seed);
  EXPECT_EQ(again.first_episode, request.first_episode);
  EXPECT_EQ(again.episodes, request.episodes);
  EXPECT_EQ(again.shown, request.shown);
  EXPECT_EQ(again.picture_path, request.picture_path);
  EXPECT_EQ(again.camera, request.camera);
  EXPECT_EQ(again.width_px, request.width_px);
  EXPECT_EQ(again.height_px, request.height_px);
}

TEST(EpisodeRequest, ATrainingRequestHasNoPictures) {
  const EpisodeRequest again = EpisodeRequest::Decode(EpisodeRequest{}.Encode());
  EXPECT_FALSE(again.evaluation);
  EXPECT_FALSE(again.held_out);
  EXPECT_EQ(again.shown, 0u);
  EXPECT_TRUE(again.picture_path.empty());
}

TEST(EpisodeRequest, APathBeyondTheEndIsRefused) {
  EpisodeRequest request;
  request.picture_path = "/tmp/sheet.png";
  std::vector<std::byte> bytes = request.Encode();
  bytes.resize(bytes.size() - 3);
  EXPECT_THROW(EpisodeRequest::Decode(bytes), RunError);
}

TEST(EpisodeRequest, TooFewBytesAreRefused) {
  std::vector<std::byte> bytes = EpisodeRequest{}.Encode();
  bytes.pop_back();
  EXPECT_THROW(EpisodeRequest::Decode(bytes), RunError);
  EXPECT_THROW(EpisodeRequest::Decode({}), RunError);
}

}  // namespace
}  // namespace gripstream
