// An MP4 file written frame by frame through OpenCV.
//
// The file has its name once it is closed; before, it is FILE.part.mp4. Not thread-safe. Throws RunError when OpenCV
// has no encoder or the file cannot be written.
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <string>

namespace gripstream {

class VideoFile {
 public:
  // Frames of width_px x height_px.
  VideoFile(const std::string& path, double frames_per_s, int width_px, int height_px);
  ~VideoFile();
  // 8-bit BGR.
  void Add(const cv::Mat& frame);
  void Close();

 private:
  struct Writer;
  std::string path_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace gripstream
