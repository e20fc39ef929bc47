// gripstream plot: learning curves of runs as a picture.
#include <cstdio>

#include "core/error.h"
#include "launch/commands.h"
#include "launch/learning_curves.h"

namespace gripstream {

int PlotCommand(const PlotArguments& arguments) {
  const CurveAxis axis = arguments.axis == "steps"  ? CurveAxis::kSteps
                         : arguments.axis == "wall" ? CurveAxis::kWall
                                                    : CurveAxis::kIterations;
  std::vector<CurvePanel> panels;
  for (const std::string& metric : arguments.metrics) {
    CurvePanel& panel = panels.emplace_back();
    panel.title = metric;
    for (const std::string& run : arguments.runs) {
      panel.curves.push_back(Smoothed(ReadCurve(run, metric, axis), arguments.smooth));
    }
  }
  WriteDrawing(arguments.output, DrawCurves(panels, axis));
  std::printf("wrote %s\n", arguments.output.c_str());
  return kExitOk;
}

}  // namespace gripstream
