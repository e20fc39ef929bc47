#include "sim_server/render/contact_sheet.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "sim_server/render/image_io.h"

namespace gripstream {
namespace {

constexpr int kGap_px = 6;
constexpr int kCaption_px = 16;
constexpr int kTitle_px = 26;

// Cuts the text until it is no wider than `width`.
std::string Fit(std::string text, double scale, int width) {
  int baseline = 0;
  while (!text.empty() && cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, scale, 1, &baseline).width > width) {
    text.pop_back();
  }
  return text;
}

void Write(cv::Mat& sheet, const std::string& text, int x, int y, double scale, int width) {
  cv::putText(sheet, Fit(text, scale, width), {x, y}, cv::FONT_HERSHEY_SIMPLEX, scale, cv::Scalar::all(20), 1,
              cv::LINE_AA);
}

}  // namespace

ContactSheet::ContactSheet(int columns, std::string title) : columns_(columns), title_(std::move(title)) {
  GS_CHECK(columns >= 1, "a contact sheet needs a column");
}

void ContactSheet::Add(const cv::Mat& image, const std::string& caption) {
  GS_CHECK(!image.empty() && image.depth() == CV_8U && (image.channels() == 3 || image.channels() == 1),
           "a contact sheet takes 8-bit pictures of one or three channels");
  cv::Mat bgr = image.clone();
  if (image.channels() == 1) cv::cvtColor(image, bgr, cv::COLOR_GRAY2BGR);
  cells_.push_back({bgr, caption});
}

cv::Mat ContactSheet::Compose() const {
  GS_CHECK(!cells_.empty(), "an empty contact sheet");
  int width = 0, height = 0;
  for (const Cell& cell : cells_) {
    width = std::max(width, cell.image.cols);
    height = std::max(height, cell.image.rows);
  }
  const int count = static_cast<int>(cells_.size());
  const int columns = std::min(columns_, count), rows = (count + columns - 1) / columns;
  const int top = title_.empty() ? 0 : kTitle_px;
  cv::Mat sheet(top + kGap_px + rows * (height + kCaption_px + kGap_px), kGap_px + columns * (width + kGap_px), CV_8UC3,
                cv::Scalar::all(245));
  if (!title_.empty()) Write(sheet, title_, kGap_px, kTitle_px - 6, 0.5, sheet.cols - 2 * kGap_px);
  for (int i = 0; i < count; ++i) {
    const cv::Mat& image = cells_[i].image;
    const int x = kGap_px + i % columns * (width + kGap_px);
    const int y = top + kGap_px + i / columns * (height + kCaption_px + kGap_px);
    image.copyTo(sheet(cv::Rect(x, y, image.cols, image.rows)));
    Write(sheet, cells_[i].caption, x, y + height + kCaption_px - 4, 0.36, width);
  }
  return sheet;
}

void ContactSheet::WritePng(const std::string& path) const {
  gripstream::WritePng(path, Compose());
}

}  // namespace gripstream
