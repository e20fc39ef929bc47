// Learning curves of runs, from their metrics.csv: one panel for each metric, one line for each run.
//
// Pure functions but for reading. Throws InputError when a run has no metrics.csv, or not that metric.
#pragma once

#include <string>
#include <vector>

#include "sim_server/render/drawing.h"

namespace gripstream {

struct Curve {
  std::string label;
  std::vector<double> x, y;  // rows where either is no number are left out
};

enum class CurveAxis { kSteps, kIterations, kWall };

// `run`: a run folder, or a metrics.csv.
Curve ReadCurve(const std::string& run, const std::string& metric, CurveAxis axis);
// Means over windows of so many rows that end at each row.
Curve Smoothed(Curve curve, int window);

// About `most` round numbers that span [low, high].
std::vector<double> RoundTicks(double low, double high, int most);

struct CurvePanel {
  std::string title;
  std::vector<Curve> curves;
};
Drawing DrawCurves(const std::vector<CurvePanel>& panels, CurveAxis axis);

}  // namespace gripstream
