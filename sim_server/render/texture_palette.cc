#include "sim_server/render/texture_palette.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr int kMostPixels = 512;

std::vector<fs::path> ImageFiles(const std::string& folder, const std::string& key) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) throw InputError("configuration", key, folder, "a folder that can be read");
  std::vector<fs::path> files;
  for (const auto& entry : entries) {
    std::string ending = entry.path().extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
    if (ending == ".png" || ending == ".jpg" || ending == ".jpeg") files.push_back(entry.path());
  }
  if (files.empty()) throw InputError("configuration", key, folder, "a folder with PNG or JPEG images");
  std::sort(files.begin(), files.end());
  return files;
}

RgbImage Read(const fs::path& file, const std::string& key) {
  cv::Mat image;
  try {
    image = cv::imread(file.string(), cv::IMREAD_COLOR);
  } catch (const cv::Exception&) {
    image.release();  // too large for OpenCV
  }
  if (image.empty()) throw InputError("configuration", key, file.string(), "a PNG or JPEG image that can be read");
  const double scale = double{kMostPixels} / std::max(image.cols, image.rows);
  if (scale < 1) cv::resize(image, image, {}, scale, scale, cv::INTER_AREA);
  cv::cvtColor(image, image, cv::COLOR_BGR2RGB);
  return {image.cols, image.rows, std::vector<uint8_t>(image.datastart, image.dataend)};
}

}  // namespace

TexturePalette::TexturePalette(const std::string& folder, const std::string& key, const std::vector<RgbImage>& shipped,
                               TextureLibrary* library) {
  if (folder.empty()) {
    for (const RgbImage& image : shipped) textures_.push_back(library->Add(image));
    return;
  }
  for (const fs::path& file : ImageFiles(folder, key)) textures_.push_back(library->Add(Read(file, key)));
}

}  // namespace gripstream
