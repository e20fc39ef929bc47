// What the tile kernels read and write: plain pointers into one memory, a GPU's or (for tests) the CPU's.
//
//   TileScene, GeomPose -> set-up: one thread per environment and geom -> CameraPose, Surface, MeshPlace, ShadeFrame
//                       -> drawing: one block per environment and image tile -> the images asked for
//
// N = environments in the job, H, W = image height and width in pixels. Plain values; no thread rule; nothing throws.
#pragma once

#include <cstdint>

#include "sim_server/render/geom_table.h"
#include "sim_server/render/noise_job.h"
#include "sim_server/render/noise_scatter.h"
#include "sim_server/render/shade.h"
#include "sim_server/render/surface.h"

namespace gripstream {

// A tile's pixels: a column of kRowsPerThread for each of 4 warps times 32 lanes. 160x120, 64x48 and 320x240 are whole
// numbers of tiles.
inline constexpr int kTileThreads = 128;
inline constexpr int kTileWidth = 32;
inline constexpr int kRowsPerThread = 6;
inline constexpr int kTileHeight = kTileThreads / kTileWidth * kRowsPerThread;
// Surfaces that a tile looks at and keeps in shared memory at a time.
inline constexpr int kTileChunk = 64;

// A geom of a model that does not change: in drawing order primitives first, opaque before translucent, then meshes.
struct TileGeom : DrawnGeom {
  int32_t body;           // in the model
  int32_t first_surface;  // among the environment's surfaces; of primitives only
};

// How many surfaces set-up makes of a geom.
GS_HOST_DEVICE inline int SurfacesOf(Shape shape) {
  return shape == Shape::kMesh ? 0 : shape == Shape::kCapsule ? 3 : shape == Shape::kCylinder ? 2 : 1;
}

struct TileModel {
  const TileGeom* geoms;
  const MeshJob* meshes;            // `geom` is an index among the TileGeoms
  int primitive_count, mesh_count;  // of geoms
  int opaque_surfaces, surface_count;
  int layer_count;       // translucent geoms
  float colour_reach_m;  // how far MuJoCo draws
};

// A geom's pose as seen from the camera's place along the world's axes.
struct GeomPose {
  float centre[3];  // m
  float axes[9];    // rotation, world from geom, row-major
};

// The same along the camera's optical axes.
struct CameraPose {
  float centre[3];   // m
  float axis[3][3];  // the geom's axes x, y, z
};

struct TileScene {
  int32_t model;
  View view;
  float optical_from_world[9];
};

// Where a mesh can be seen, and the frame that all of its triangles are set up in.
struct MeshPlace {
  int x0, x1, y0, y1;
  float origin_x, origin_y;
  float ray[3], du, dv;  // of the origin pixel, per pixel
};

struct TileJob {
  const TileModel* models;
  const TileScene* scenes;   // [N]
  const GeomPose* poses;     // [N, geom_stride]
  CameraPose* camera_poses;  // [N, geom_stride]
  Surface* surfaces;         // [N, surface_stride]; `geom` is an index among the model's TileGeoms
  MeshPlace* mesh_places;    // [N, mesh_stride]
  int count;                 // N
  int geom_stride, surface_stride, mesh_stride;
  int width, height;
  int tiles_x, tiles_y;
  uint16_t* depth_u16;    // [N, H, W] or null
  float* depth_f32;       // [N, H, W] or null
  float* inverse;         // [N, H, W] 1/m or null: for shadow maps
  int32_t* segmentation;  // [N, H, W] or null
  float* normals;         // [N, H, W, 3] or null
  int32_t* bodies;        // [N, H, W] or null
  // For colour, else null. All that a ShadeJob points to is counted by TileGeom; its own_materials, where there are
  // any, are of all geoms and have no slots.
  const ShadeJob* shades;  // [N]
  const int32_t* layers;   // [N, layer_stride] translucent TileGeoms, the farthest first
  int layer_stride;
};

// Sensor noise over depth images that lie one after the other.
struct TileNoise {
  NoiseJob shape;
  noise::ScatterJob scatter;  // both for any moment
  const uint64_t* moments;    // [N]
  uint16_t* depth;            // [N, H, W], changed in place
  float* correlated;          // [N, H, W] scratch
  int count;                  // N
};

}  // namespace gripstream
