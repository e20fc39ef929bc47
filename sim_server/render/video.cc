#include "sim_server/render/video.h"

#include <filesystem>
#include <opencv2/videoio.hpp>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {
namespace {

std::string PartOf(const std::string& path) {
  return path + ".part.mp4";  // the ending tells OpenCV the container
}

int FramesIn(const std::string& path) {
  cv::VideoCapture film(path, cv::CAP_FFMPEG);  // as it was written
  return film.isOpened() ? static_cast<int>(film.get(cv::CAP_PROP_FRAME_COUNT)) : 0;
}

}  // namespace

struct VideoFile::Writer {
  cv::VideoWriter video;
  int frames = 0;
  cv::Size size;
};

VideoFile::VideoFile(const std::string& path, double frames_per_s, int width_px, int height_px)
    : path_(BehindLinks(path)), writer_(std::make_unique<Writer>()) {
  writer_->size = {width_px, height_px};
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw RunError(path + ": cannot be written: no folder " + folder.string());
  }
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_)) {
    throw RunError(path + ": cannot be written: it is there and no file");
  }
  writer_->video.open(PartOf(path_), cv::VideoWriter::fourcc('m', 'p', '4', 'v'), frames_per_s, writer_->size);
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
  ++writer_->frames;
}

void VideoFile::Close() {
  writer_->video.release();
  // OpenCV tells of no failed write: only reading shows whether the film is whole.
  if (FramesIn(PartOf(path_)) != writer_->frames)
    throw RunError(path_ + ": cannot be written whole: is the disk full?");
  std::error_code error;
  std::filesystem::rename(PartOf(path_), path_, error);
  if (error) throw RunError(path_ + ": " + error.message());
  writer_.reset();
}

}  // namespace gripstream
