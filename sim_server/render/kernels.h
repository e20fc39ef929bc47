// The inner loops of the CPU renderer, compiled once per instruction set and chosen at run time.
//
// Pure functions over caller-owned memory; safe from several threads on different images; nothing throws or allocates.
// All instruction sets give the same bits.
#pragma once

#include <string>
#include <vector>

#include "sim_server/render/geom_table.h"
#include "sim_server/render/surface.h"

namespace gripstream {

// Floats that a row of the working image may be written beyond its width.
inline constexpr int kRowPadding = 16;

// One environment's working image: for every pixel the largest inverse depth so far and whose it is.
struct Canvas {
  float* inverse_depth;  // [H, stride] 1/m
  int32_t* geom;         // [H, stride] or null when not wanted
  int stride;            // >= width + kRowPadding
};

struct SceneJob {
  const DrawnGeom* geoms;
  int count;
  const double* geom_xpos;
  const double* geom_xmat;
  double camera_xpos[3];
  double optical_from_world[9];
};

struct RenderKernels {
  const char* name;
  // Clears the canvas and draws all geoms into it.
  void (*draw)(const View& view, const SceneJob& scene, const Canvas& canvas);
  // Writes the depth images wanted (null = not) of one environment.
  void (*resolve)(const View& view, const Canvas& canvas, uint16_t* depth_u16, float* depth_f32);
};

// Those this machine can run, the fastest first. The last is the x86-64 baseline.
std::vector<RenderKernels> AvailableKernels();

extern const RenderKernels kKernelsSse2;
extern const RenderKernels kKernelsAvx2;
extern const RenderKernels kKernelsAvx512;

}  // namespace gripstream
