// Configuration of the simulator role. Plain values; every binary parses the whole run file.
#pragma once

#include "core/config.h"

namespace gripstream {

struct SimConfig {
  int processes = 1;
  int envs = 256;
  int render_threads = 0;
  int reserve_bytes_per_env = 0;
  int spares = 0;

  void Fields(FieldVisitor& v) {
    v.Int("processes", processes, {.doc = "simulator processes"}, {1, 256});
    v.Int("envs", envs, {.doc = "environments per process"}, {1, 65536});
    v.Int("render_threads", render_threads, {.doc = "rendering threads per process; 0: as many as physics.threads"},
          {0, 1024});
    v.Int("reserve_bytes_per_env", reserve_bytes_per_env,
          {.doc = "memory touched and held per environment, to stand for a heavier simulator in capacity experiments",
           .unit = "bytes"},
          {0, 1 << 30});
    v.Int("spares", spares,
          {.doc = "simulator processes more per learner, which wait to take a lost one's place at once"}, {0, 256});
  }
};

}  // namespace gripstream
