#include "sim_server/render/film.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "sim_server/render/video.h"

namespace gripstream {
namespace {

constexpr int kMargin_px = 8, kLine_px = 24, kJpegQuality = 95;
constexpr double kInsetShare = 0.34;  // of the frame's width and height, at most

std::vector<uint8_t> ToJpeg(const cv::Mat& image) {
  std::vector<uint8_t> bytes;
  GS_CHECK(cv::imencode(".jpg", image, bytes, {cv::IMWRITE_JPEG_QUALITY, kJpegQuality}),
           "OpenCV could not encode a JPEG");
  return bytes;
}

void PutText(cv::Mat& frame, const std::string& text, int x, const cv::Scalar& colour) {
  const cv::Point at(x, frame.rows - kMargin_px);
  cv::putText(frame, text, at, cv::FONT_HERSHEY_SIMPLEX, 0.55, colour, 1, cv::LINE_AA);
}

int WidthOf(const std::string& text) {
  int baseline = 0;
  return cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, 0.55, 1, &baseline).width;
}

// `seen` in the corner at the top left, as large as its share allows, framed.
void LayInset(cv::Mat& frame, const cv::Mat& seen) {
  const double scale = std::min(kInsetShare * frame.cols / seen.cols, kInsetShare * frame.rows / seen.rows);
  cv::Mat inset;
  cv::resize(seen, inset, {}, scale, scale, scale > 1 ? cv::INTER_NEAREST : cv::INTER_AREA);
  const cv::Rect place(kMargin_px, kMargin_px, inset.cols, inset.rows);
  if ((place & cv::Rect({0, 0}, frame.size())) != place) return;  // a frame too small for one
  inset.copyTo(frame(place));
  cv::rectangle(frame, place, cv::Scalar::all(255));
}

}  // namespace

Film::Film(double frames_per_s, int width_px, int height_px)
    : frames_per_s_(frames_per_s), width_px_(width_px), height_px_(height_px) {}

int Film::AddClip() {
  clips_.emplace_back();
  return static_cast<int>(clips_.size()) - 1;
}

void Film::AddFrame(int clip, const cv::Mat& view, const cv::Mat& seen, const std::string& caption) {
  cv::Mat frame = view.clone();
  GS_CHECK(frame.cols == width_px_ && frame.rows == height_px_, "a view of another size than the film's");
  if (!seen.empty()) LayInset(frame, seen);
  const int top = std::max(0, frame.rows - kLine_px - kMargin_px / 2);
  frame.rowRange(top, frame.rows) *= 0.4;
  PutText(frame, caption, kMargin_px, cv::Scalar::all(255));
  clips_[static_cast<size_t>(clip)].push_back(ToJpeg(frame));
}

void Film::End(int clip, const std::string& verdict, bool good) {
  std::vector<Jpeg>& frames = clips_[static_cast<size_t>(clip)];
  GS_CHECK(!frames.empty(), "a clip without frames ends");
  cv::Mat frame = cv::imdecode(frames.back(), cv::IMREAD_COLOR);
  PutText(frame, verdict, frame.cols - kMargin_px - WidthOf(verdict),
          good ? cv::Scalar(90, 230, 90) : cv::Scalar(90, 90, 255));
  const auto held = static_cast<size_t>(std::max(1.0, std::ceil(frames_per_s_)));
  frames.insert(frames.end(), held, ToJpeg(frame));
}

void Film::Write(const std::string& path) const {
  VideoFile video(path, frames_per_s_, width_px_, height_px_);
  for (const std::vector<Jpeg>& frames : clips_) {
    for (const Jpeg& frame : frames) video.Add(cv::imdecode(frame, cv::IMREAD_COLOR));
  }
  video.Close();
}

}  // namespace gripstream
