// What the tests of the tile kernels share: batches of grasp scenes, meshes, and comparison with the CPU renderer.
#pragma once

#include <gtest/gtest.h>

#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "sim_server/render/cpu_renderer.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {

// Environments with different objects, and so different geom counts.
struct GraspBatch {
  std::vector<ModelPtr> models;
  std::vector<DataPtr> data;
  std::vector<const mjModel*> pointers;
  std::vector<SceneView> views;

  explicit GraspBatch(int count) {
    for (const char* name : {"cube_50", "hammer", "dumbbell", "egg"}) {
      models.push_back(GraspModel(name));
      pointers.push_back(models.back().get());
    }
    for (int i = 0; i < count; ++i) {
      const mjModel* model = pointers[static_cast<size_t>(i) % pointers.size()];
      data.emplace_back(mj_makeData(model));
      RandomiseNearHome(*model, data.back().get(), RandomStream(8, "tiles").At(static_cast<uint32_t>(i), 0));
      views.push_back(ViewOf(model, data.back().get()));
    }
  }
};

// A wavy ball as an MJCF mesh.
inline std::string BumpyMesh(const std::string& name, int slices, int stacks) {
  std::string vertices = "0 0 -.2 0 0 .2 ", faces;
  for (int i = 1; i < stacks; ++i) {
    for (int j = 0; j < slices; ++j) {
      const double a = std::numbers::pi * (1.0 * i / stacks - 0.5), b = 2 * std::numbers::pi * j / slices;
      const double r = 0.2 * (1 + 0.15 * std::sin(3 * b) * std::cos(a));
      for (const double x : {r * std::cos(a) * std::cos(b), r * std::cos(a) * std::sin(b), r * std::sin(a)}) {
        vertices += std::to_string(x) + " ";
      }
    }
  }
  const auto face = [&](int a, int b, int c) {
    for (const int corner : {a, b, c}) faces += std::to_string(corner) + " ";
  };
  const auto at = [&](int i, int j) { return 2 + (i - 1) * slices + j % slices; };
  for (int j = 0; j < slices; ++j) {
    face(0, at(1, j + 1), at(1, j)), face(1, at(stacks - 1, j), at(stacks - 1, j + 1));
    for (int i = 1; i + 1 < stacks; ++i) {
      face(at(i, j), at(i, j + 1), at(i + 1, j)), face(at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
    }
  }
  return "<mesh name='" + name + "' vertex='" + vertices + "' face='" + faces + "'/>";
}

inline std::string SmallHills(const std::string& name) {
  std::string elevation;
  Rng rng = RandomStream(7, "hills").At(0, 0);
  for (int i = 0; i < 12 * 9; ++i) elevation += std::to_string(rng.Uniform()) + " ";
  return "<hfield name='" + name + "' nrow='9' ncol='12' size='.6 .4 .2 .1' elevation='" + elevation + "'/>";
}

struct ImagesOfBatch {
  std::vector<uint16_t> depth_u16;
  std::vector<float> depth;
  std::vector<int32_t> geom;
  std::vector<float> normals;
  std::vector<int32_t> bodies;

  // Filled with what no renderer writes.
  explicit ImagesOfBatch(size_t pixels)
      : depth_u16(pixels, 65000), depth(pixels, -1), geom(pixels, -7), normals(3 * pixels, 9), bodies(pixels, -7) {}
  RenderTargets Targets() {
    return {.depth_u16 = depth_u16.data(),
            .depth_f32 = depth.data(),
            .segmentation = geom.data(),
            .normals = normals.data(),
            .bodies = bodies.data()};
  }
};

// Depth and segmentation bit for bit, asked for together and alone. Normals come from a point that single precision
// places less well than the CPU renderer's double: within a degree but for a few pixels at edges.
inline void ExpectSameImages(BatchRenderer& renderer, const RenderConfig& config, const std::string& camera,
                             std::span<const mjModel* const> models, std::span<const SceneView> views) {
  const size_t pixels = views.size() * config.width * config.height;
  ImagesOfBatch ours(pixels), expected(pixels);
  CpuRenderer(config, camera, models, 1, kKernelsSse2).Render(views, expected.Targets());
  renderer.Render(views, ours.Targets());
  EXPECT_EQ(ours.depth_u16, expected.depth_u16);
  EXPECT_EQ(ours.depth, expected.depth);
  EXPECT_EQ(ours.geom, expected.geom);
  EXPECT_EQ(ours.bodies, expected.bodies);
  size_t wrong = 0;
  for (size_t i = 0; i < pixels; ++i) {
    double cosine = expected.geom[i] < 0 ? 1 : 0;
    for (size_t k = 3 * i; k < 3 * i + 3; ++k) cosine += double{ours.normals[k]} * expected.normals[k];
    wrong += !(cosine > 0.99985);
  }
  EXPECT_LE(wrong, pixels / 1000);
  ImagesOfBatch alone(pixels);
  renderer.Render(views, {.depth_u16 = alone.depth_u16.data()});
  EXPECT_EQ(alone.depth_u16, expected.depth_u16);
}

// Colour images. A geom's frame is rounded a little differently on a device, which shows where a surface or a texture
// has an edge: all but one value in a thousand are within 1 of 255.
inline void ExpectSameColour(std::span<const uint8_t> ours, std::span<const uint8_t> expected) {
  ASSERT_EQ(ours.size(), expected.size());
  size_t wrong = 0, bright = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    wrong += std::abs(ours[i] - expected[i]) > 1;
    bright += expected[i] > 20;
  }
  EXPECT_LE(wrong, ours.size() / 1000);
  EXPECT_GT(bright, ours.size() / 10);
}

}  // namespace gripstream
