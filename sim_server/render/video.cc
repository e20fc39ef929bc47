#include "sim_server/render/video.h"

#include <filesystem>
#include <opencv2/videoio.hpp>

#include "core/error.h"

namespace gripstream {
namespace {

std::string PartOf(const std::string& path) {
  return path + ".part.mp4";  // the ending tells OpenCV the container
}

}  // namespace

struct VideoFile::Writer {
  cv::VideoWriter video;
  cv::Size size;
};

VideoFile::VideoFile(const std::string& path, double frames_per_s, int width_px, int height_px)
    : path_(path), writer_(std::make_unique<Writer>()) {
  writer_->size = {width_px, height_px};
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw RunError(path + ": cannot be written: no folder " + folder.string());
  }
  writer_->video.open(PartOf(path), cv::VideoWriter::fourcc('m', 'p', '4', 'v'), frames_per_s, writer_->size);
  if (!writer_->video.isOpened()) {
    throw RunError(path + ": OpenCV cannot write MP4 there: is the folder writable, and the Debian package " +
                   "libopencv-videoio-dev installed, built with FFmpeg?");
  }
}

VideoFile::~VideoFile() {
  if (!writer_) return;
  writer_->video.release();
  std::error_code ignored;
  std::filesystem::remove(PartOf(path_), ignored);
}

void VideoFile::Add(const cv::Mat& frame) {
  GS_CHECK(frame.size() == writer_->size && frame.type() == CV_8UC3, "a frame of another size or type");
  writer_->video.write(frame);
}

void VideoFile::Close() {
  writer_->video.release();
  std::error_code error;
  std::filesystem::rename(PartOf(path_), path_, error);
  if (error) throw RunError(path_ + ": " + error.message());
  writer_.reset();
}

}  // namespace gripstream
