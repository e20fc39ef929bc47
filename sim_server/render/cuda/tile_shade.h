// The colour kernels' bodies: what a geom's pixels share, and a tile's drawing with colour.
//
//   SetUpFrame: one thread per environment and geom -> ShadeFrame, LocalLights
//   DrawColourTile: opaque geoms -> depth, colour -> translucent geoms one by one over it -> segmentation, normals
//
// Shading is shade_kernel.h's, with one lane per thread: the CPU renderer's but for how a geom's frame is rounded.
// Included by the files that instantiate the kernels (see lanes.h, with GS_RENDER_ONE_LANE).
#pragma once

#include "sim_server/render/cuda/tile_draw.h"
#include "sim_server/render/shade_kernel.h"

namespace gripstream::GS_RENDER_ISA {

// One geom of one environment; `index` counts geom_stride to an environment. After SetUpGeom.
GS_HOST_DEVICE inline void SetUpFrame(const TileJob& job, int64_t index) {
  const int64_t env = index / job.geom_stride;
  const int geom = static_cast<int>(index % job.geom_stride);
  const TileModel& model = job.models[job.scenes[env].model];
  if (geom >= model.primitive_count + model.mesh_count) return;
  const ShadeJob& shade = job.shades[env];
  const CameraPose& pose = job.camera_poses[index];
  ShadeFrame& frame = shade.frames[geom];
  frame.ready = true;
  frame.geom = &model.geoms[geom];
  frame.mesh = frame.geom->shape == Shape::kMesh ? &MeshOf(model, geom) : nullptr;
  frame.material = (shade.own_materials ? shade.own_materials : shade.materials) + geom;
  frame.per_radius = 1.0f / frame.geom->size[0];
  for (int i = 0; i < 3; ++i) {
    frame.eye[i] = 0;
    for (int k = 0; k < 3; ++k) {
      frame.axis[i][k] = pose.axis[i][k];
      frame.eye[i] -= pose.axis[i][k] * pose.centre[k];
    }
  }
  SetLocalLights(shade, frame, shade.local_lights + geom * shade.light_count);
}

// What a tile's pixels show, for the level of detail that neighbours share. Tiles begin at whole groups of pixels.
static_assert(kTileWidth % kDetailPixels == 0);
struct ColourShared {
  TileShared draw;
  float inverse[kTileHeight][kTileWidth];
  int32_t geom[kTileHeight][kTileWidth];
  int32_t triangle[kTileHeight][kTileWidth];
};

GS_HOST_DEVICE inline void Publish(int thread, const TilePixels& pixels, ColourShared* shared) {
  const int column = thread % kTileWidth, first = thread / kTileWidth * kRowsPerThread;
  for (int i = 0; i < kRowsPerThread; ++i) {
    shared->inverse[first + i][column] = pixels.inverse[i];
    shared->geom[first + i][column] = pixels.geom[i];
    shared->triangle[first + i][column] = pixels.triangle[i];
  }
}

// The colour of what pixel (x, y) shows, a geom.
GS_HOST_DEVICE inline Colour SurfaceColour(const View& view, const ShadeJob& shade, const Tile& tile,
                                           const ColourShared& shared, int x, int y) {
  const int row = y - tile.y0, column = x - tile.x0;
  const int geom = shared.geom[row][column];
  const ShadeFrame& frame = shade.frames[geom];
  return ColourOn(view, shade, frame, shade.local_lights + geom * shade.light_count, x, y, shared.inverse[row][column],
                  &shared.triangle[row][column], [&] {
                    int first = column / kDetailPixels * kDetailPixels;
                    while (shared.geom[row][first] != geom) ++first;
                    return PixelWidth(shade, frame, shared.inverse[row][first], shared.triangle[row][first]);
                  });
}

// Calls body(x, y, what is written of the pixel's colour, row) for the thread's pixels that are inside the image.
template <class Body>
GS_HOST_DEVICE void ForColours(const TileJob& job, const Tile& tile, int thread, const Body& body) {
  uint8_t* rgb = job.shades[tile.env].rgb;
  ForPixels(job, tile, thread, [&](int x, int y, int64_t, int row) {
    body(x, y, rgb + 3 * (static_cast<int64_t>(y) * job.width + x), row);
  });
}

template <class Block, class Pixels>
GS_HOST_DEVICE void ShadeOpaque(const Block& block, const TileJob& job, const Tile& tile, ColourShared& shared,
                                Pixels& pixels) {
  const View& view = job.scenes[tile.env].view;
  const ShadeJob& shade = job.shades[tile.env];
  block.ForThreads([&](int thread) { Publish(thread, pixels[thread], &shared); });
  block.ForThreads([&](int thread) {
    ForColours(job, tile, thread, [&](int x, int y, uint8_t* out, int row) {
      const bool sky = pixels[thread].geom[row] < 0;
      StoreStrip(out, sky ? SkyAt(view, shade, x, y) : SurfaceColour(view, shade, tile, shared, x, y), 1);
    });
  });
}

GS_HOST_DEVICE inline bool TouchesAny(const Tile& tile, const Surface* surfaces, int count) {
  for (int i = 0; i < count; ++i) {
    if (tile.Touches(surfaces[i])) return true;
  }
  return false;
}

// Draws one geom; false where it does not touch the tile.
template <class Block, class Pixels>
GS_HOST_DEVICE bool DrawGeom(const Block& block, const TileJob& job, const Tile& tile, int geom, TileShared& shared,
                             Pixels& pixels) {
  const int64_t env = tile.env;
  const TileModel& model = job.models[job.scenes[env].model];
  const TileGeom& drawn = model.geoms[geom];
  if (drawn.shape == Shape::kMesh) {
    const int number = static_cast<int>(&MeshOf(model, geom) - model.meshes);
    if (!tile.Touches(job.mesh_places[env * job.mesh_stride + number])) return false;
    DrawMeshNumber<true>(block, job, tile, number, shared, pixels);
    return true;
  }
  const Surface* surfaces = job.surfaces + env * job.surface_stride + drawn.first_surface;
  const int count = SurfacesOf(drawn.shape);
  if (!TouchesAny(tile, surfaces, count)) return false;
  DrawAll<true>(block, tile, count, shared, pixels, [&](int i, TileEntry* entry) {
    entry->surface = surfaces[i];
    entry->triangle = -1;
  });
  return true;
}

// Lays one translucent geom over what `pixels` show.
template <class Block, class Pixels>
GS_HOST_DEVICE void BlendLayer(const Block& block, const TileJob& job, const Tile& tile, int geom, ColourShared& shared,
                               Pixels& pixels) {
  const View& view = job.scenes[tile.env].view;
  const ShadeJob& shade = job.shades[tile.env];
  Pixels layer;
  block.ForThreads([&](int thread) {
    layer[thread] = pixels[thread];
    for (int32_t& id : layer[thread].geom) id = -1;
  });
  if (!DrawGeom(block, job, tile, geom, shared.draw, layer)) return;
  block.ForThreads([&](int thread) { Publish(thread, layer[thread], &shared); });
  const float cover = CoverOf(*shade.frames[geom].material, shade.frames[geom].geom->shape);
  block.ForThreads([&](int thread) {
    ForColours(job, tile, thread, [&](int x, int y, uint8_t* out, int row) {
      if (layer[thread].geom[row] < 0) return;
      StoreStrip(out, Blended(cover, SurfaceColour(view, shade, tile, shared, x, y), LoadStrip(out, 1)), 1);
    });
  });
}

// One tile of one environment with colour, which is drawn farther than ids reach.
template <class Block>
GS_HOST_DEVICE void DrawColourTile(const Block& block, const TileJob& job, int index, ColourShared& shared) {
  const Tile tile = TileAt(job, index);
  const TileModel& model = job.models[job.scenes[tile.env].model];
  const float far_m = job.scenes[tile.env].view.far_m;
  const float reach_m = model.colour_reach_m > far_m ? model.colour_reach_m : far_m;
  typename Block::template Private<TilePixels> pixels;
  block.ForThreads([&](int thread) { ClearPixels(reach_m, &pixels[thread]); });
  DrawLayer<true>(block, job, tile, false, shared.draw, pixels);
  WriteDepths(block, job, tile, pixels);
  ShadeOpaque(block, job, tile, shared, pixels);
  for (int i = 0; i < model.layer_count; ++i) {
    BlendLayer(block, job, tile, job.layers[static_cast<int64_t>(tile.env) * job.layer_stride + i], shared, pixels);
  }
  if (!WantsIds(job)) return;
  DrawLayer<true>(block, job, tile, true, shared.draw, pixels);
  block.ForThreads([&](int thread) {
    for (int i = 0; reach_m > far_m && i < kRowsPerThread; ++i) {
      if (!(pixels[thread].inverse[i] > 1.0f / far_m)) pixels[thread].geom[i] = -1;
    }
  });
  WriteAllIds(block, job, tile, pixels);
}

}  // namespace gripstream::GS_RENDER_ISA
