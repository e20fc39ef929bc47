// Writes TensorBoard event files: scalars and PNG images, one record at a time.
//
// Format: TFRecord framing (length, masked CRC-32C, payload, masked CRC-32C) around `Event` protocol buffers, written
// field by field with protozero, so that no protobuf library is linked (LibTorch brings its own). Not thread-safe.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gripstream {

class EventFile {
 public:
  // Makes FOLDER/events.out.tfevents.<time>.<host>.<pid>; throws RunError when that fails.
  explicit EventFile(const std::string& folder);
  void WriteScalars(int64_t step, const std::vector<std::pair<std::string, double>>& scalars);
  // `png` is the encoded image; width and height in pixels are what TensorBoard shows before decoding.
  void WriteImage(int64_t step, const std::string& tag, std::string_view png, int width_px, int height_px);

 private:
  void WriteRecord(const std::string& payload);
  std::ofstream out_;
  std::string path_;
};

}  // namespace gripstream
