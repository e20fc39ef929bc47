// Configuration of a training run's course and of evaluation. Plain values; every binary parses the whole run file.
#pragma once

#include <cstdint>

#include "core/config.h"

namespace gripstream {

struct TrainConfig {
  int iterations = 100;
  double max_wall_s = 0;
  double stop_success = 0;
  int checkpoint_every = 10;
  int keep_checkpoints = 3;

  void Fields(FieldVisitor& v) {
    v.Int("iterations", iterations, {.doc = "rollout-and-update rounds; --resume runs up to this total"}, {1, 1 << 30});
    v.Float("max_wall_s", max_wall_s, {.doc = "stop after this much training time; 0: no limit", .unit = "s"}, {0, 1e9});
    v.Float("stop_success", stop_success,
            {.doc = "stop once the training success rate stays at or above this for three iterations; 0: never"}, {0, 1});
    v.Int("checkpoint_every", checkpoint_every, {.doc = "iterations between checkpoints"}, {1, 1 << 30});
    v.Int("keep_checkpoints", keep_checkpoints, {.doc = "newest checkpoints kept, besides the best"}, {1, 10000});
  }
};

struct EvalConfig {
  int episodes = 512;
  uint64_t seed = 20250919;
  bool at_start = true;
  bool blank_image = true, held_out = true;
  int sheet_rows = 6;

  void Fields(FieldVisitor& v) {
    v.Int("episodes", episodes, {.doc = "episodes of the fixed evaluation set; 0: evaluate nothing"}, {0, 1 << 24});
    v.Uint64("seed", seed, {.doc = "names the evaluation set; the same for every policy compared"});
    v.Bool("at_start", at_start, {.doc = "evaluate the untrained policy too"});
    v.Bool("blank_image", blank_image, {.doc = "evaluate once more with the image blanked: does the policy look?"});
    v.Bool("held_out", held_out, {.doc = "evaluate once more on task.held_out_objects, where there are some"});
    v.Int("sheet_rows", sheet_rows, {.doc = "episodes shown in the contact sheet; 0: no sheet"}, {0, 64});
  }
};

}  // namespace gripstream
