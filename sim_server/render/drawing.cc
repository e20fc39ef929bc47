#include "sim_server/render/drawing.h"

#include <cstdio>
#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/files.h"
#include "sim_server/render/image_io.h"

namespace gripstream {
namespace {

constexpr int kFontSize_px = 13;
constexpr double kFontScale = 0.42;  // of OpenCV's font, about as large
constexpr int kFractionBits = 4;     // of coordinates that OpenCV draws between pixels

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string Hex(DrawingColour c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
  return text;
}

std::string Escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
  return safe;
}

cv::Scalar Bgr(DrawingColour c) {
  return {static_cast<double>(c.b), static_cast<double>(c.g), static_cast<double>(c.r)};
}

void Draw(const DrawingLine& line, cv::Mat& image) {
  std::vector<cv::Point> points;
  for (const DrawingPoint& p : line.points) {
    points.emplace_back(cvRound(p.x * (1 << kFractionBits)), cvRound(p.y * (1 << kFractionBits)));
  }
  cv::polylines(image, points, false, Bgr(line.colour), std::max(1, cvRound(line.width_px)), cv::LINE_AA,
                kFractionBits);
}

void Draw(const DrawingLabel& label, cv::Mat& image) {
  int base = 0;
  const cv::Size size = cv::getTextSize(label.text, cv::FONT_HERSHEY_SIMPLEX, kFontScale, 1, &base);
  const int back = label.anchor == DrawingLabel::Anchor::kLeft     ? 0
                   : label.anchor == DrawingLabel::Anchor::kMiddle ? size.width / 2
                                                                   : size.width;
  cv::putText(image, label.text, {cvRound(label.at.x) - back, cvRound(label.at.y)}, cv::FONT_HERSHEY_SIMPLEX,
              kFontScale, Bgr(label.colour), 1, cv::LINE_AA);
}

}  // namespace

std::string ToSvg(const Drawing& drawing) {
  const std::string width = std::to_string(drawing.width_px), height = std::to_string(drawing.height_px);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
                    "\" font-family=\"sans-serif\" font-size=\"" + std::to_string(kFontSize_px) +
                    "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (const DrawingLine& line : drawing.lines) {
    svg += "<polyline fill=\"none\" stroke=\"" + Hex(line.colour) + "\" stroke-width=\"" + Number(line.width_px) +
           "\" points=\"";
    for (const DrawingPoint& p : line.points) svg += Number(p.x) + "," + Number(p.y) + " ";
    svg += "\"/>\n";
  }
  for (const DrawingLabel& label : drawing.labels) {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    svg += "<text x=\"" + Number(label.at.x) + "\" y=\"" + Number(label.at.y) + "\" fill=\"" + Hex(label.colour) +
           "\" text-anchor=\"" + kAnchors[static_cast<int>(label.anchor)] + "\">" + Escaped(label.text) + "</text>\n";
  }
  return svg + "</svg>\n";
}

void WriteDrawing(const std::string& path, const Drawing& drawing) {
  if (path.ends_with(".svg")) {
    WriteFileAtomically(path, ToSvg(drawing));
    return;
  }
  if (!path.ends_with(".png"))
    throw InputError("command line", "output", path, "a file name that ends with .png or .svg");
  cv::Mat image(drawing.height_px, drawing.width_px, CV_8UC3, cv::Scalar(255, 255, 255));
  for (const DrawingLine& line : drawing.lines) Draw(line, image);
  for (const DrawingLabel& label : drawing.labels) Draw(label, image);
  WritePng(path, image);
}

}  // namespace gripstream
