// A contact sheet of the first episodes that a simulated robot played: what the camera saw at the start, and the start,
// the middle and the end of what the robot did, one episode a row.
//
// One thread. The file is written once the last row is complete; RunError when it cannot be.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deploy/sim_robot/sim_world.h"
#include "sim_server/overview.h"
#include "sim_server/render/contact_sheet.h"

namespace gripstream {

class EpisodeRows {
 public:
  // `path` empty, or no rows: no sheet.
  EpisodeRows(const EnvBatch& envs, const std::string& path, int rows);

  void Look(const SimWorld& world, int tick);  // before each tick of an episode
  void End(bool success);

 private:
  bool Open() const { return overview_ && done_ < rows_; }

  const std::string path_;
  const int rows_, last_tick_;
  int done_ = 0;
  std::unique_ptr<Overview> overview_;
  ContactSheet sheet_;
  std::vector<cv::Mat> views_;
};

}  // namespace gripstream
