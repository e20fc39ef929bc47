// Tests wire/episode_request.h.
#include "wire/episode_request.h"

#include <gtest/gtest.h>

namespace gripstream {
namespace {

TEST(EpisodeRequest, ReadsBackWhatWasEncoded) {
  const EpisodeRequest request{true, 0xFFFFFFFFFFFFFFFFu, 4096, 300, 6, "/tmp/sheet.png"};
  const EpisodeRequest again = EpisodeRequest::Decode(request.Encode());
  EXPECT_EQ(again.evaluation, request.evaluation);
  EXPECT_EQ(again.seed, request.seed);
  EXPECT_EQ(again.first_episode, request.first_episode);
  EXPECT_EQ(again.episodes, request.episodes);
  EXPECT_EQ(again.sheet_rows, request.sheet_rows);
  EXPECT_EQ(again.sheet_path, request.sheet_path);
}

TEST(EpisodeRequest, ATrainingRequestHasNoSheet) {
  const EpisodeRequest again = EpisodeRequest::Decode(EpisodeRequest{}.Encode());
  EXPECT_FALSE(again.evaluation);
  EXPECT_EQ(again.sheet_rows, 0u);
  EXPECT_TRUE(again.sheet_path.empty());
}

TEST(EpisodeRequest, TooFewBytesAreRefused) {
  std::vector<std::byte> bytes = EpisodeRequest{}.Encode();
  bytes.pop_back();
  EXPECT_THROW(EpisodeRequest::Decode(bytes), RunError);
  EXPECT_THROW(EpisodeRequest::Decode({}), RunError);
}

}  // namespace
}  // namespace gripstream
