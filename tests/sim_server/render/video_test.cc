// Tests sim_server/render/video.h.
#include "sim_server/render/video.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <opencv2/videoio.hpp>

#include "core/error.h"

namespace gripstream {
namespace {

class Video : public testing::Test {
 protected:
  Video() : folder_(std::filesystem::temp_directory_path() / ("gripstream_video_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~Video() override { std::filesystem::remove_all(folder_); }
  void Film(int frames) const {
    VideoFile film(folder_ / "film.mp4", 30, 64, 48);
    for (int i = 0; i < frames; ++i) {
      cv::Mat frame(48, 64, CV_8UC3);
      cv::randu(frame, 0, 256);  // does not compress
      film.Add(frame);
    }
    film.Close();
  }
  std::filesystem::path folder_;
};

TEST_F(Video, HoldsEveryFrame) {
  Film(20);
  cv::VideoCapture film((folder_ / "film.mp4").string());
  EXPECT_EQ(film.get(cv::CAP_PROP_FRAME_COUNT), 20);
}

TEST_F(Video, AFullDiskIsToldAndLeavesNoFile) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {20000, 20000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      Film(200);
      _exit(1);
    } catch (const RunError&) {
      _exit(0);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Video, AFolderInItsPlaceIsLeftAlone) {
  std::filesystem::create_directory(folder_ / "film.mp4");
  EXPECT_THROW(Film(1), RunError);
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "film.mp4"));
}

}  // namespace
}  // namespace gripstream
