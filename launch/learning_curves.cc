#include "launch/learning_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "launch/metrics_table.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth_px = 900, kPanel_px = 280, kLegendRow_px = 18;
constexpr double kLeft_px = 70, kRight_px = 20, kTop_px = 28, kBottom_px = 40;
constexpr int kTicks = 6;
constexpr DrawingColour kGrey{225, 225, 225}, kInk{40, 40, 40};
// Okabe and Ito's palette, told apart by colour-blind readers, too.
constexpr DrawingColour kColours[] = {{0, 114, 178},   {213, 94, 0},  {0, 158, 115},
                                      {204, 121, 167}, {230, 159, 0}, {86, 180, 233}};

const char* XColumn(CurveAxis axis) {
  return axis == CurveAxis::kSteps ? "run/env_steps" : axis == CurveAxis::kWall ? "run/wall_s" : "iteration";
}

const char* XTitle(CurveAxis axis) {
  return axis == CurveAxis::kSteps ? "environment steps" : axis == CurveAxis::kWall ? "wall clock (s)" : "iterations";
}

std::string TickText(double value) {
  const double size = std::fabs(value);
  char text[32];
  if (size >= 1e6) {
    std::snprintf(text, sizeof text, "%gM", value / 1e6);
  } else if (size >= 1e4) {
    std::snprintf(text, sizeof text, "%gk", value / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%g", size < 1e-12 ? 0.0 : value);
  }
  return text;
}

struct Range {
  double low = 0, high = 1;
};

Range RangeOf(const std::vector<Curve>& curves, std::vector<double> Curve::*numbers) {
  Range range{1e300, -1e300};
  for (const Curve& curve : curves) {
    for (const double value : curve.*numbers) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  if (range.low > range.high) return {};
  if (range.low == range.high) return {range.low - 0.5, range.high + 0.5};
  return range;
}

// From data to pixels of one panel.
struct Frame {
  Range x, y;
  double top = 0;

  double X(double value) const {
    return kLeft_px + (value - x.low) / (x.high - x.low) * (kWidth_px - kLeft_px - kRight_px);
  }
  double Y(double value) const {
    return top + kPanel_px - kBottom_px - (value - y.low) / (y.high - y.low) * (kPanel_px - kTop_px - kBottom_px);
  }
};

void DrawAxes(const Frame& frame, const std::string& title, CurveAxis axis, Drawing& drawing) {
  const double bottom = frame.Y(frame.y.low), ceiling = frame.Y(frame.y.high);
  for (const double tick : RoundTicks(frame.x.low, frame.x.high, kTicks)) {
    const double x = frame.X(tick);
    drawing.lines.push_back({{{x, bottom}, {x, ceiling}}, kGrey});
    drawing.labels.push_back({{x, bottom + 16}, TickText(tick), DrawingLabel::Anchor::kMiddle, kInk});
  }
  for (const double tick : RoundTicks(frame.y.low, frame.y.high, kTicks)) {
    const double y = frame.Y(tick);
    drawing.lines.push_back({{{kLeft_px, y}, {kWidth_px - kRight_px, y}}, kGrey});
    drawing.labels.push_back({{kLeft_px - 6, y + 4}, TickText(tick), DrawingLabel::Anchor::kRight, kInk});
  }
  drawing.lines.push_back({{{kLeft_px, ceiling}, {kLeft_px, bottom}, {kWidth_px - kRight_px, bottom}}, kInk});
  drawing.labels.push_back({{kLeft_px, ceiling - 8}, title, DrawingLabel::Anchor::kLeft, kInk});
  drawing.labels.push_back({{kWidth_px - kRight_px, bottom + 32}, XTitle(axis), DrawingLabel::Anchor::kRight, kInk});
}

}  // namespace

Curve ReadCurve(const std::string& run, const std::string& metric, CurveAxis axis) {
  const MetricsTable table = ReadMetrics(run);
  const size_t x = table.Column(XColumn(axis)), y = table.Column(metric);
  Curve curve{.label = fs::absolute(table.file).parent_path().filename().string(), .x = {}, .y = {}};
  for (const std::vector<double>& row : table.rows) {
    if (!std::isfinite(row[x]) || !std::isfinite(row[y])) continue;
    curve.x.push_back(row[x]);
    curve.y.push_back(row[y]);
  }
  return curve;
}

Curve Smoothed(Curve curve, int window) {
  const std::vector<double> raw = curve.y;
  double sum = 0;
  for (size_t i = 0; i < raw.size(); ++i) {
    const auto most = static_cast<size_t>(window);
    sum += raw[i];
    if (i >= most) sum -= raw[i - most];
    curve.y[i] = sum / static_cast<double>(std::min(i + 1, most));
  }
  return curve;
}

std::vector<double> RoundTicks(double low, double high, int most) {
  const double rough = (high - low) / most, power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) ticks.push_back(k * step);
  return ticks;
}

Drawing DrawCurves(const std::vector<CurvePanel>& panels, CurveAxis axis) {
  const size_t runs = panels.empty() ? 0 : panels.front().curves.size();
  Drawing drawing{.width_px = kWidth_px, .height_px = 0, .lines = {}, .labels = {}};
  double top = 0;
  for (const CurvePanel& panel : panels) {
    const Frame frame{RangeOf(panel.curves, &Curve::x), RangeOf(panel.curves, &Curve::y), top};
    DrawAxes(frame, panel.title, axis, drawing);
    for (size_t i = 0; i < panel.curves.size(); ++i) {
      const Curve& curve = panel.curves[i];
      DrawingLine line{{}, kColours[i % std::size(kColours)], 2};
      for (size_t k = 0; k < curve.x.size(); ++k) line.points.push_back({frame.X(curve.x[k]), frame.Y(curve.y[k])});
      drawing.lines.push_back(std::move(line));
    }
    top += kPanel_px;
  }
  for (size_t i = 0; i < runs; ++i) {
    const DrawingColour colour = kColours[i % std::size(kColours)];
    const double y = top + 12 + kLegendRow_px * static_cast<double>(i);
    drawing.lines.push_back({{{kLeft_px, y - 4}, {kLeft_px + 24, y - 4}}, colour, 2});
    drawing.labels.push_back({{kLeft_px + 32, y}, panels.front().curves[i].label, DrawingLabel::Anchor::kLeft, kInk});
  }
  drawing.height_px = static_cast<int>(top) + kLegendRow_px * static_cast<int>(runs) + 8;
  return drawing;
}

}  // namespace gripstream
