// A grid of small pictures with captions in one image: what the camera saw and what the policy did.
//
// Not thread-safe; owns the pictures given to it.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace gripstream {

class ContactSheet {
 public:
  // `columns` >= 1 cells per row.
  explicit ContactSheet(int columns, std::string title = "");
  // `image` is 8-bit, three channels (BGR) or one (grey). The caption is one line; what is too long is cut.
  void Add(const cv::Mat& image, const std::string& caption);
  // All cells have the size of the largest picture. At least one cell must have been added.
  cv::Mat Compose() const;
  // Throws RunError when the file cannot be written.
  void WritePng(const std::string& path) const;

 private:
  struct Cell {
    cv::Mat image;
    std::string caption;
  };
  int columns_;
  std::string title_;
  std::vector<Cell> cells_;
};

}  // namespace gripstream
