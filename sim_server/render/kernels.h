// The inner loops of the CPU renderer, compiled once per instruction set and chosen at run time.
//
// Pure functions over caller-owned memory; safe from several threads on different images; nothing throws or allocates.
// All instruction sets give the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "sim_server/render/geom_table.h"
#include "sim_server/render/surface.h"

namespace gripstream {

// Pixels that a row of the working image may be written beyond its width.
inline constexpr int kRowPadding = 16;

// Floats in a MeshFacet.
inline constexpr int kFacetFloats = 23;

// A mesh or height field to draw: plain pointers into its MeshAsset, so that kernel files instantiate no library code.
struct MeshJob {
  int geom;
  bool translucent;
  int vertex_count, triangle_count;
  const float *x, *y, *z;
  const int32_t* corner[3];
  const float* normal[3];              // [triangle] x, y, z, geom's frame
  const float *box_centre, *box_half;  // [3] a box about the vertices
  const float* facets;                 // [triangle, kFacetFloats] MeshFacets, for colour; or null
};

// Poses of one environment's geoms and camera, and the geoms to draw.
struct SceneJob {
  const GeomBatch* batches;
  int batch_count;
  const DrawnGeom* geoms;  // by id
  int geom_count;
  const MeshJob* meshes;
  int mesh_count;
  const double* geom_xpos;
  const double* geom_xmat;
  double camera_xpos[3];
  double optical_from_world[9];
};

// Writes the ids of the translucent geoms, the farthest first and planes before all; returns how many there are.
int SortTranslucent(const SceneJob& scene, int32_t* order);

// A thread's scratch memory and where one environment's images go.
struct Canvas {
  float* inverse_depth;  // [rows, stride] 1/m; for every pixel the largest so far
  int32_t* geom;         // [rows, stride] whose it is, or null when not wanted
  int32_t* triangle;     // [rows, stride] which triangle of a mesh, -1 for other geoms; or null
  float* vertices;       // [5, the largest mesh's vertex_count]
  int stride;            // >= width + kRowPadding
  int band_rows;         // rows drawn at a time: a part of the image that fits the nearest cache, or all H
  float reach_m;         // how far anything is drawn: the view's far_m, beyond which depth is 0, or farther
  Surface* surfaces;     // kMaxSurfacesPerGeom for every geom
  uint16_t* depth_u16;   // [H, W] multiples of kDepthQuantum_m, or null
  float* depth_f32;      // [H, W] m, or null
  bool keeps_ids;        // whether geom and triangle are wanted afterwards, translucent geoms included
  // The same again for one translucent geom at a time; null where colour is not wanted or all geoms are opaque.
  float* layer_inverse;
  int32_t* layer_geom;
  int32_t* layer_triangle;
  int32_t* layer_order;  // [geoms]
};

struct ShadeJob;       // shade.h
struct NoiseJob;       // noise_job.h
struct NoiseCanvas;    // the same
struct AugmentJob;     // augment_job.h
struct AugmentCanvas;  // the same

struct RenderKernels {
  const char* name;
  // Draws the scene and writes the depth images, for which translucent geoms do not count, and with `shade`, which may
  // be null, the colour image. With keeps_ids band_rows must be H, and the canvas holds the whole image afterwards;
  // with meshes it should be H, else they are set up once per band. For colour the canvas must hold geoms and, of
  // meshes, triangles.
  void (*render)(const View& view, const SceneJob& scene, const Canvas& canvas, const ShadeJob* shade);
  // Lays the noise of the first two stages over an image; returns how many speckles and sticks start in it.
  int (*noise)(const NoiseJob& job, const NoiseCanvas& canvas);
  // Changes a colour image: background, colours, blur.
  void (*augment)(const AugmentJob& job, const AugmentCanvas& canvas);
};

// Those this machine can run, the fastest first. The last is plain C++.
std::vector<RenderKernels> AvailableKernels();

extern const RenderKernels kKernelsScalar;
extern const RenderKernels kKernelsSse2;
extern const RenderKernels kKernelsAvx2;
extern const RenderKernels kKernelsAvx512;

}  // namespace gripstream
