// A line drawing as lists of lines and labels, written as SVG or PNG, whichever the file's name says.
//
// Coordinates in pixels from the upper left corner. Plain values; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gripstream {

struct DrawingPoint {
  double x = 0, y = 0;
};

struct DrawingColour {
  uint8_t r = 0, g = 0, b = 0;
};

struct DrawingLine {
  std::vector<DrawingPoint> points;
  DrawingColour colour{};
  double width_px = 1;
};

struct DrawingLabel {
  enum class Anchor { kLeft, kMiddle, kRight };
  DrawingPoint at;  // of the base line
  std::string text;
  Anchor anchor = Anchor::kLeft;
  DrawingColour colour{};
};

struct Drawing {
  int width_px = 0, height_px = 0;
  std::vector<DrawingLine> lines;  // in the order in which they are drawn
  std::vector<DrawingLabel> labels;
};

std::string ToSvg(const Drawing& drawing);
// Throws InputError when the name ends with neither .svg nor .png, RunError when the file cannot be written.
void WriteDrawing(const std::string& path, const Drawing& drawing);

}  // namespace gripstream
