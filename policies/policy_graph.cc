#include "policies/inference.h"

namespace gripstream {

Graph Policy::InferenceGraph() const {
  Graph graph;
  GraphBuilder build(graph);
  ActorCritic::GraphInput input;
  if (network_.UsesDepth()) {
    const std::string depth = build.Input(
        {"depth", {shapes_.height_px, shapes_.width_px}, "m", "depth along the optical axis; 0: nothing was hit"});
    input.image = image_.AddTo(build, depth, shapes_.depth_scale_m);
  }
  if (network_.UsesRgb()) {
    input.image = build.Input({"rgb",
                               {shapes_.cameras, shapes_.rgb_height_px, shapes_.rgb_width_px, 3},
                               "",
                               "red, green, blue, 0 to 255, of each camera"});
  }
  if (config_.ActorReadsState()) {
    input.state = state_.AddTo(build, build.Input({"state", {shapes_.state}, "", kStateTensor}));
  } else {
    input.proprio = proprio_.AddTo(build, build.Input({"proprio", {shapes_.proprio}, "", kProprioTensor}));
  }
  const int64_t remembered = network_.ActorMemorySize();
  if (remembered > 0) input.memory = build.Input({"memory", {remembered}, "", "of the last step; 0 at the start"});
  const ActorCritic::GraphOutput output = network_.AddActorTo(build, input);
  build.Output(output.mean, {"action", {shapes_.action}, "", "mean of the policy; the robot clamps it to [-1, 1]"});
  if (network_.HasAux()) build.Output(aux_.AddInverseTo(build, output.aux), {"aux", {shapes_.aux}, "m", kAuxTensor});
  if (remembered > 0) build.Output(output.memory, {"memory_out", {remembered}, "", "for the next step"});
  return graph;
}

}  // namespace gripstream
