// What a robot must know of the camera that a policy was trained with. Plain values.
#pragma once

#include <string>
#include <vector>

#include "envs/config.h"

namespace gripstream {

struct CameraFacts {
  std::string name;
  bool moves = false;                     // it hangs on a body that moves; the pose is then that at the home posture
  double fx_px = 0, fy_px = 0;            // focal lengths for the given size
  double cx_px = 0, cy_px = 0;            // principal point; pixel centres at + 0.5
  std::vector<double> position_m{};       // [3] in the world, which is the robot's base frame
  std::vector<double> optical_to_base{};  // [9] rotation, row-major; optical: x right, y down, z forward
};

// Of the task's camera `name` at this image size. Throws InputError where there is no such camera.
CameraFacts DescribeCamera(const TaskConfig& task, const std::string& name, int width_px, int height_px);

}  // namespace gripstream
