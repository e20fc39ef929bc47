// Clips of several episodes, taken at the same time, that become one MP4 one after the other: a view of the scene, what
// the policy sees as an inset, a caption.
//
// Frames wait as JPEGs, some 40 kB each. Not thread-safe. Write throws what VideoFile throws.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace gripstream {

class Film {
 public:
  // Frames of width_px x height_px, even numbers as MP4 encoders want them.
  Film(double frames_per_s, int width_px, int height_px);

  // A further clip; its number.
  int AddClip();
  // `view` fills the frame; `seen`, which may be empty, is laid into a corner.
  void AddFrame(int clip, const cv::Mat& view, const cv::Mat& seen, const std::string& caption);
  // Holds the last frame for a second with the verdict beside its caption, green or red.
  void End(int clip, const std::string& verdict, bool good);
  void Write(const std::string& path) const;

 private:
  using Jpeg = std::vector<uint8_t>;
  double frames_per_s_;
  int width_px_, height_px_;
  std::vector<std::vector<Jpeg>> clips_;
};

}  // namespace gripstream
