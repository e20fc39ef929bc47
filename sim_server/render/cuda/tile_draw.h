// The drawing kernel's body: a block bins its environment's surfaces into a tile, keeps the nearest of each pixel, and
// writes the images.
//
//   for every kTileChunk surfaces: which touch the tile -> those, in order, to shared memory -> every thread its pixels
//
// Order is kept because of equally near surfaces the last wins. The intersections are surface_columns.h's, with one
// lane per thread. Included by the files that instantiate the kernels (see lanes.h, with GS_RENDER_ONE_LANE).
#pragma once

#include "sim_server/render/cuda/tile_normal.h"
#include "sim_server/render/cuda/tile_setup.h"
#include "sim_server/render/mesh_kernel.h"

namespace gripstream::GS_RENDER_ISA {

struct TileEntry {
  Surface surface;
  int32_t triangle;  // of a mesh, -1 for primitives
};
struct TileShared {
  uint32_t touching[kTileChunk / 32];  // a bit for each surface of the chunk
  TileEntry entries[kTileChunk];
};

GS_HOST_DEVICE inline bool WantsIds(const TileJob& job) {
  return job.segmentation || job.bodies || job.normals;
}

// What a thread knows of its pixels.
struct TilePixels {
  float inverse[kRowsPerThread];  // 1/m
  int32_t geom[kRowsPerThread];
  int32_t triangle[kRowsPerThread];
};

// A tile of one environment's image, and the part of it that is a thread's.
struct Tile {
  int env;
  int x0, y0;

  GS_HOST_DEVICE int X(int thread) const { return x0 + thread % kTileWidth; }
  GS_HOST_DEVICE int Y(int thread) const { return y0 + thread / kTileWidth * kRowsPerThread; }
  template <class Rectangle>
  GS_HOST_DEVICE bool Touches(const Rectangle& r) const {
    return r.x0 < x0 + kTileWidth && r.x1 > x0 && r.y0 < y0 + kTileHeight && r.y1 > y0;
  }
};

GS_HOST_DEVICE inline Tile TileAt(const TileJob& job, int index) {
  const int tiles = job.tiles_x * job.tiles_y;
  const int number = index % tiles;
  return {index / tiles, number % job.tiles_x * kTileWidth, number / job.tiles_x * kTileHeight};
}

template <bool kIds, class Column>
GS_HOST_DEVICE void DrawRows(const TileEntry& entry, const Column& column, int y, TilePixels* pixels) {
  const Surface& s = entry.surface;
  for (int i = 0; i < kRowsPerThread; ++i, ++y) {
    const float inverse = column(Lanes(static_cast<float>(y) - s.place.origin_y)).v;
    // Comparisons with what is not a number are false.
    if (!(pixels->inverse[i] <= inverse && inverse <= s.place.max_inverse_depth && s.y0 <= y && y < s.y1)) continue;
    pixels->inverse[i] = inverse;
    if constexpr (kIds) pixels->geom[i] = s.geom, pixels->triangle[i] = entry.triangle;
  }
}

// All threads of a block draw the same entry: the kind makes none of them wait for another.
template <bool kIds>
GS_HOST_DEVICE void DrawEntry(const TileEntry& entry, int x, int y, TilePixels* pixels) {
  const Surface& s = entry.surface;
  if (x < s.x0 || x >= s.x1 || y >= s.y1 || y + kRowsPerThread <= s.y0) return;
  const Lanes u(static_cast<float>(x) - s.place.origin_x);
  if (entry.triangle >= 0) return DrawRows<kIds>(entry, TriangleColumn(s.polygon, u), y, pixels);
  switch (s.kind) {
    case SurfaceKind::kPlane:
      return DrawRows<kIds>(entry, PlaneColumn(s, u), y, pixels);
    case SurfaceKind::kRectangle:
      return DrawRows<kIds>(entry, RectangleColumn(s, u), y, pixels);
    case SurfaceKind::kDisc:
      return DrawRows<kIds>(entry, DiscColumn(s, u), y, pixels);
    case SurfaceKind::kQuadric:
      return DrawRows<kIds>(entry, QuadricColumn(s, u), y, pixels);
    case SurfaceKind::kWindowed:
      return DrawRows<kIds>(entry, WindowedColumn(s, u), y, pixels);
    case SurfaceKind::kBoxOneFace:
      return DrawRows<kIds>(entry, BoxColumn<1>(s, u), y, pixels);
    case SurfaceKind::kBoxTwoFaces:
      return DrawRows<kIds>(entry, BoxColumn<2>(s, u), y, pixels);
    case SurfaceKind::kBoxThreeFaces:
      return DrawRows<kIds>(entry, BoxColumn<3>(s, u), y, pixels);
  }
}

// Which place a chunk's surface has among those that touch the tile; -1 for those that do not.
GS_HOST_DEVICE inline int PlaceAmongTouching(const TileShared& shared, int i) {
  const uint32_t bit = 1u << (i % 32);
  if (!(shared.touching[i / 32] & bit)) return -1;
  int before = CountBits(shared.touching[i / 32] & (bit - 1));
  for (int word = 0; word < i / 32; ++word) before += CountBits(shared.touching[word]);
  return before;
}

GS_HOST_DEVICE inline int CountTouching(const TileShared& shared) {
  int count = 0;
  for (const uint32_t word : shared.touching) count += CountBits(word);
  return count;
}

// Draws `count` surfaces; get(i, entry) makes the i-th, in every call the same.
template <bool kIds, class Block, class Pixels, class Get>
GS_HOST_DEVICE void DrawAll(const Block& block, const Tile& tile, int count, TileShared& shared, Pixels& pixels,
                            const Get& get) {
  for (int first = 0; first < count; first += kTileChunk) {
    block.ForThreads([&](int thread) {
      if (thread < kTileChunk / 32) shared.touching[thread] = 0;
    });
    block.ForThreads([&](int thread) {
      if (thread >= kTileChunk || first + thread >= count) return;
      TileEntry entry;
      get(first + thread, &entry);
      if (tile.Touches(entry.surface)) AtomicOr(&shared.touching[thread / 32], 1u << (thread % 32));
    });
    block.ForThreads([&](int thread) {
      const int place = thread < kTileChunk ? PlaceAmongTouching(shared, thread) : -1;
      if (place >= 0) get(first + thread, &shared.entries[place]);
    });
    block.ForThreads([&](int thread) {
      const int entries = CountTouching(shared);
      for (int i = 0; i < entries; ++i) {
        DrawEntry<kIds>(shared.entries[i], tile.X(thread), tile.Y(thread), &pixels[thread]);
      }
    });
  }
}

// Mesh `number` of the environment's model.
template <bool kIds, class Block, class Pixels>
GS_HOST_DEVICE void DrawMeshNumber(const Block& block, const TileJob& job, const Tile& tile, int number,
                                   TileShared& shared, Pixels& pixels) {
  const int64_t env = tile.env;
  const TileScene& scene = job.scenes[env];
  const MeshJob& mesh = job.models[scene.model].meshes[number];
  const MeshPlace& place = job.mesh_places[env * job.mesh_stride + number];
  if (!tile.Touches(place)) return;
  const CameraPose& pose = job.camera_poses[env * job.geom_stride + mesh.geom];
  DrawAll<kIds>(block, tile, mesh.triangle_count, shared, pixels, [&](int triangle, TileEntry* entry) {
    PutTriangle(mesh, triangle, GeomsOf(pose), place, scene.view, &entry->surface);
    entry->triangle = triangle;
  });
}

// The opaque or the translucent half of an environment.
template <bool kIds, class Block, class Pixels>
GS_HOST_DEVICE void DrawLayer(const Block& block, const TileJob& job, const Tile& tile, bool translucent,
                              TileShared& shared, Pixels& pixels) {
  const int64_t env = tile.env;
  const TileModel& model = job.models[job.scenes[env].model];
  const int first = translucent ? model.opaque_surfaces : 0;
  const int end = translucent ? model.surface_count : model.opaque_surfaces;
  const Surface* surfaces = job.surfaces + env * job.surface_stride + first;
  DrawAll<kIds>(block, tile, end - first, shared, pixels, [&](int i, TileEntry* entry) {
    entry->surface = surfaces[i];
    entry->triangle = -1;
  });
  for (int i = 0; i < model.mesh_count; ++i) {
    if (model.meshes[i].translucent == translucent) DrawMeshNumber<kIds>(block, job, tile, i, shared, pixels);
  }
}

// Nothing beyond this can beat it.
GS_HOST_DEVICE inline void ClearPixels(float reach_m, TilePixels* pixels) {
  for (int i = 0; i < kRowsPerThread; ++i) {
    pixels->inverse[i] = 1.0f / reach_m;
    pixels->geom[i] = pixels->triangle[i] = -1;
  }
}

GS_HOST_DEVICE inline void WriteDepth(const TileJob& job, const View& view, int64_t at, float inverse) {
  const Lanes s(inverse), far(1.0f / view.far_m), per_metre(10000.0f);
  if (job.depth_u16) StoreUint16(job.depth_u16 + at, Keep(far < s, FastReciprocal(s) * per_metre));
  if (job.inverse) job.inverse[at] = inverse;
  if (job.depth_f32) Store(job.depth_f32 + at, Keep(far < s, Lanes(1.0f) / s));
}

GS_HOST_DEVICE inline void WriteIds(const TileJob& job, const Tile& tile, const TileModel& model, int x, int y,
                                    int64_t at, const TilePixels& pixels, int row) {
  const int geom = pixels.geom[row];
  if (job.segmentation) job.segmentation[at] = geom < 0 ? -1 : model.geoms[geom].id;
  if (job.bodies) job.bodies[at] = geom < 0 ? -1 : model.geoms[geom].body;
  if (!job.normals) return;
  Normal n = {0, 0, 0};
  if (geom >= 0) {
    const CameraPose& pose = job.camera_poses[static_cast<int64_t>(tile.env) * job.geom_stride + geom];
    n = NormalAt(job.scenes[tile.env].view, model, pose, geom, pixels.triangle[row], x, y, pixels.inverse[row]);
  }
  float* out = job.normals + 3 * at;
  out[0] = n.x, out[1] = n.y, out[2] = n.z;
}

// Calls body(x, y, place in the images, row) for the thread's pixels that are inside the image.
template <class Body>
GS_HOST_DEVICE void ForPixels(const TileJob& job, const Tile& tile, int thread, const Body& body) {
  const int x = tile.X(thread);
  if (x >= job.width) return;
  for (int row = 0; row < kRowsPerThread; ++row) {
    const int y = tile.Y(thread) + row;
    if (y < job.height) body(x, y, (static_cast<int64_t>(tile.env) * job.height + y) * job.width + x, row);
  }
}

template <class Block, class Pixels>
GS_HOST_DEVICE void WriteDepths(const Block& block, const TileJob& job, const Tile& tile, Pixels& pixels) {
  block.ForThreads([&](int thread) {
    ForPixels(job, tile, thread, [&](int, int, int64_t at, int row) {
      WriteDepth(job, job.scenes[tile.env].view, at, pixels[thread].inverse[row]);
    });
  });
}

template <class Block, class Pixels>
GS_HOST_DEVICE void WriteAllIds(const Block& block, const TileJob& job, const Tile& tile, Pixels& pixels) {
  const TileModel& model = job.models[job.scenes[tile.env].model];
  block.ForThreads([&](int thread) {
    ForPixels(job, tile, thread,
              [&](int x, int y, int64_t at, int row) { WriteIds(job, tile, model, x, y, at, pixels[thread], row); });
  });
}

// One tile of one environment. kIds: whether segmentation, bodies or normals are wanted; depth does not see translucent
// geoms.
template <bool kIds, class Block>
GS_HOST_DEVICE void DrawTile(const Block& block, const TileJob& job, int index, TileShared& shared) {
  const Tile tile = TileAt(job, index);
  const View& view = job.scenes[tile.env].view;
  typename Block::template Private<TilePixels> pixels;
  block.ForThreads([&](int thread) { ClearPixels(view.far_m, &pixels[thread]); });
  DrawLayer<kIds>(block, job, tile, false, shared, pixels);
  WriteDepths(block, job, tile, pixels);
  if constexpr (kIds) {
    DrawLayer<kIds>(block, job, tile, true, shared, pixels);
    WriteAllIds(block, job, tile, pixels);
  }
}

}  // namespace gripstream::GS_RENDER_ISA
