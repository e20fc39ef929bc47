// Tests envs/mesh_objects.h, triangle_mesh.h and convex_parts.h, and meshes among a task's objects.
#include "envs/mesh_objects.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/error.h"
#include "envs/convex_parts.h"
#include "tests/envs/helpers.h"
#include "tests/envs/meshes.h"

namespace gripstream {
namespace {

using testing::MeshFolder;

TEST(TriangleMesh, BoxAndTetrahedronHaveTheirClosedForms) {
  const SolidProperties box = SolidOf(testing::Box({0.3, -2, 7}, {0.1, 0.2, 0.3}));
  EXPECT_NEAR(box.volume, 0.1 * 0.2 * 0.3, 1e-15);
  EXPECT_NEAR(box.centre.x, 0.3, 1e-12);
  EXPECT_NEAR(box.centre.z, 7, 1e-12);
  EXPECT_NEAR(box.inertia[0], box.volume / 12 * (0.04 + 0.09), 1e-15);
  EXPECT_NEAR(box.inertia[1], box.volume / 12 * (0.01 + 0.09), 1e-15);
  EXPECT_NEAR(box.inertia[2], box.volume / 12 * (0.01 + 0.04), 1e-15);
  for (size_t k = 3; k < 6; ++k) EXPECT_NEAR(box.inertia[k], 0, 1e-15);
  // The corner of a cube of edge 1: volume 1/6, centre 1/4, products of inertia -1/120 + 1/96 about the centre.
  const TriangleMesh corner{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  const SolidProperties solid = SolidOf(corner);
  EXPECT_NEAR(solid.volume, 1.0 / 6, 1e-15);
  EXPECT_NEAR(solid.centre.y, 0.25, 1e-15);
  EXPECT_NEAR(solid.inertia[0], 2 * (1.0 / 60 - 1.0 / 96), 1e-15);
  EXPECT_NEAR(solid.inertia[3], -(1.0 / 120 - 1.0 / 96), 1e-15);
}

TEST(TriangleMesh, PartsTogetherAreTheWhole) {
  const SolidProperties whole = SolidOf(testing::Box({0, 0, 0}, {0.4, 0.1, 0.1}));
  const SolidProperties halves = Together(
      {SolidOf(testing::Box({-0.1, 0, 0}, {0.2, 0.1, 0.1})), SolidOf(testing::Box({0.1, 0, 0}, {0.2, 0.1, 0.1}))});
  EXPECT_NEAR(halves.volume, whole.volume, 1e-15);
  for (size_t k = 0; k < 6; ++k) EXPECT_NEAR(halves.inertia[k], whole.inertia[k], 1e-15);
}

TEST(TriangleMesh, FilesAreReadWhereTheyAreWhateverTheirFormat) {
  const MeshFolder folder;
  const TriangleMesh box = testing::Box({0.5, -0.2, 0.1}, {0.06, 0.03, 0.02});
  folder.WriteObj("box", box);
  folder.WriteStl("box", box);
  for (const char* file : {"box.obj", "box.stl"}) {
    const TriangleMesh read = ReadMesh(folder / file, 2);
    EXPECT_EQ(read.vertices.size(), 8u) << file;
    EXPECT_EQ(read.triangles.size(), 12u) << file;
    EXPECT_TRUE(IsClosed(read)) << file;
    const SolidProperties solid = SolidOf(read);
    EXPECT_NEAR(solid.volume, 8 * 0.06 * 0.03 * 0.02, 1e-5 * solid.volume) << file;
    EXPECT_NEAR(solid.centre.x, 1.0, 1e-6) << file;
    EXPECT_NEAR(BoundsOf(read).low.z, 2 * 0.09, 1e-6) << file;
  }
}

TEST(TriangleMesh, MissingFaceOrTurnedFaceIsNotClosed) {
  TriangleMesh box = testing::Box({0, 0, 0}, {1, 1, 1});
  EXPECT_TRUE(IsClosed(box));
  std::swap(box.triangles[3][0], box.triangles[3][1]);
  EXPECT_FALSE(IsClosed(box));
  box = testing::Box({0, 0, 0}, {1, 1, 1});
  box.triangles.pop_back();
  EXPECT_FALSE(IsClosed(box));
}

TEST(ConvexParts, ConvexBodyIsOnePartAndAnLIsTwoThatFillIt) {
  const std::vector<TriangleMesh> one = ConvexParts(testing::Box({0, 0, 0}, {0.1, 0.05, 0.04}), {}, "box");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_NEAR(SolidOf(one[0]).volume, 0.1 * 0.05 * 0.04, 1e-3 * 0.1 * 0.05 * 0.04);
  const TriangleMesh ell = testing::Ell();
  const std::vector<TriangleMesh> parts = ConvexParts(ell, {}, "L");
  EXPECT_GE(parts.size(), 2u);
  EXPECT_LE(parts.size(), 8u);
  double sum = 0;
  for (const TriangleMesh& part : parts) {
    EXPECT_TRUE(IsClosed(part));
    sum += SolidOf(part).volume;
  }
  EXPECT_NEAR(sum, SolidOf(ell).volume, 0.05 * sum);
  // One part is the hull, which fills the notch.
  const std::vector<TriangleMesh> hull = ConvexParts(ell, {.parts = 1}, "L");
  ASSERT_EQ(hull.size(), 1u);
  EXPECT_GT(SolidOf(hull[0]).volume, 1.1 * SolidOf(ell).volume);
}

TEST(ConvexParts, SameMeshSameParts) {
  const auto a = ConvexParts(testing::Ell(), {}, "L"), b = ConvexParts(testing::Ell(), {}, "L");
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].vertices.size(), b[i].vertices.size());
    EXPECT_EQ(a[i].triangles, b[i].triangles);
    for (size_t k = 0; k < a[i].vertices.size(); ++k) EXPECT_EQ(a[i].vertices[k].x, b[i].vertices[k].x);
  }
}

TEST(MeshObject, WeighsItsVolumeTimesTheDensityEvenInsideOutAndWhereItsPartsAreLarger) {
  const MeshFolder folder;
  folder.WriteObj("ell", testing::Ell());
  TriangleMesh turned = testing::Ell();
  for (auto& t : turned.triangles) std::swap(t[0], t[1]);
  folder.WriteObj("turned", turned);
  for (const char* file : {"ell.obj", "turned.obj"}) {
    MeshesConfig config;
    config.density = 700;
    config.parts = 1;
    const MeshObject object = ReadMeshObject(folder / file, config);
    EXPECT_NEAR(object.mass, 700 * SolidOf(testing::Ell()).volume, 1e-6) << file;
    for (const double moment : {object.inertia[0], object.inertia[1], object.inertia[2]}) EXPECT_GT(moment, 0) << file;
    const Bounds bounds = BoundsOf(object.surface);
    EXPECT_NEAR(bounds.low.x, -bounds.high.x, 1e-6) << file;
    EXPECT_NEAR(bounds.low.z, -bounds.high.z, 1e-6) << file;
  }
}

TEST(MeshObject, OpenMeshIsTouchedAndWeighsAsItsConvexHull) {
  const MeshFolder folder;
  TriangleMesh open = testing::Box({0, 0, 0}, {0.06, 0.06, 0.06});
  open.triangles.pop_back();
  folder.WriteObj("open", open);
  const MeshObject object = ReadMeshObject(folder / "open.obj", {});
  EXPECT_EQ(object.parts.size(), 1u);
  EXPECT_NEAR(object.mass, 500 * 0.06 * 0.06 * 0.06, 0.01 * object.mass);
}

std::string Refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(MeshFiles, WhatIsWrongIsNamedByFile) {
  const MeshFolder folder;
  MeshesConfig config;
  config.folder = folder.Path();
  EXPECT_NE(Refusal([&] { ListMeshes(config); }).find(".obj or .stl"), std::string::npos);
  folder.WriteObj("cup", testing::Box({0, 0, 0}, {60, 60, 80}));
  EXPECT_NE(Refusal([&] { ReadMeshObject(folder / "cup.obj", config); }).find("cup.obj"), std::string::npos);
  EXPECT_NE(Refusal([&] { ReadMeshObject(folder / "cup.obj", config); }).find("scale"), std::string::npos);
  config.scale = 0.001;
  EXPECT_NO_THROW(ReadMeshObject(folder / "cup.obj", config));
  config.scale = 1;
  config.held_out = {"cap"};
  EXPECT_NE(Refusal([&] { ListMeshes(config); }).find("'cup'"), std::string::npos);
  config.held_out = {};
  std::ofstream(folder / "broken.stl") << "not a mesh";
  EXPECT_NE(Refusal([&] { ReadMeshObject(folder / "broken.stl", config); }).find("broken.stl"), std::string::npos);
  std::ofstream(folder / "flat.obj") << "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n";
  EXPECT_NE(Refusal([&] { ReadMeshObject(folder / "flat.obj", config); }).find("flat.obj"), std::string::npos);
  folder.WriteStl("cup", testing::Box({0, 0, 0}, {60, 60, 80}));
  EXPECT_NE(Refusal([&] { ListMeshes(config); }).find("twice"), std::string::npos);
  config.folder = folder / "nowhere";
  EXPECT_NE(Refusal([&] { ListMeshes(config); }).find("nowhere"), std::string::npos);
}

TEST(MeshFiles, HeldOutAreThoseNamedAndAShareOfTheRestThatNewFilesDoNotReorder) {
  const MeshFolder folder;
  for (const char* name : {"a", "b", "c", "d", "e"}) folder.WriteObj(name, testing::Ell());
  const auto held_out = [&](const MeshesConfig& config) {
    std::set<std::string> names;
    for (const MeshFile& file : ListMeshes(config)) {
      if (file.held_out) names.insert(file.name);
    }
    return names;
  };
  MeshesConfig config;
  config.folder = folder.Path();
  EXPECT_TRUE(held_out(config).empty());
  config.held_out = {"c"};
  EXPECT_EQ(held_out(config), std::set<std::string>({"c"}));
  config.held_out_fraction = 0.5;
  const std::set<std::string> half = held_out(config);
  EXPECT_EQ(half.size(), 3u) << "c, and half of the other four";
  EXPECT_TRUE(half.count("c"));
  EXPECT_EQ(held_out(config), half);
}

class MeshTask : public ::testing::Test {
 protected:
  MeshTask() {
    folder_.WriteObj("ell", testing::Ell());
    folder_.WriteStl("brick", testing::Box({0, 0, 0}, {0.05, 0.06, 0.05}));
    folder_.WriteObj("ball", testing::Ball(0.03, 24));
    task_ = testing::SmallTask();
    task_.meshes.folder = folder_.Path();
    task_.meshes.held_out = {"ball"};
    task_.objects = {"cube_50", "meshes"};
    task_.held_out_objects = {"heldout_meshes", "mug"};
  }
  MeshFolder folder_;
  TaskConfig task_;
};

TEST_F(MeshTask, ModelsHaveOneLayoutAndEachTheObjectsOwnMassAndShape) {
  const ModelSet models(task_);
  ASSERT_EQ(models.Objects(), 5);
  EXPECT_EQ(models.Object(1).name, "brick");
  EXPECT_EQ(models.Object(2).name, "ell");
  EXPECT_EQ(models.Object(3).name, "ball");
  EXPECT_EQ(models.HeldOut(), (std::vector<int>{3, 4}));
  const int body = models.Binding().object_body;
  for (int i = 0; i < models.Objects(); ++i) {
    EXPECT_EQ(models.Model(i)->nbvh, models.Model(0)->nbvh) << i;
    EXPECT_EQ(models.Model(i)->nbvhstatic, models.Model(0)->nbvhstatic) << i;
    EXPECT_EQ(models.Model(i)->ngeom, models.Model(0)->ngeom) << i;
    EXPECT_EQ(models.Model(i)->nC, models.Model(0)->nC) << i;
  }
  EXPECT_NEAR(models.Model(0)->body_mass[body], 0.05 * 0.05 * 0.05 * 500, 1e-12);
  EXPECT_NEAR(models.Model(1)->body_mass[body], 0.05 * 0.06 * 0.05 * 500, 1e-7);
  EXPECT_NEAR(models.Model(2)->body_mass[body], SolidOf(testing::Ell()).volume * 500, 1e-7);
  const double ball = 4.0 / 3 * 3.14159265 * 0.03 * 0.03 * 0.03 * 500;
  EXPECT_NEAR(models.Model(3)->body_mass[body], ball, 0.02 * ball);
  EXPECT_NEAR(models.Model(3)->body_inertia[3 * body], 0.4 * ball * 0.03 * 0.03, 0.04 * ball * 0.03 * 0.03);
}

TEST_F(MeshTask, WhatIsSeenTouchesNothingAndWhatTouchesIsNotSeen) {
  const ModelSet models(task_);
  const mjModel* ell = models.Model(2);
  const int body = models.Binding().object_body, first = ell->body_geomadr[body];
  EXPECT_GT(ell->geom_rgba[4 * first + 3], 0.0f);
  for (int geom = 0; geom < ell->ngeom; ++geom) {
    EXPECT_EQ(ell->geom_contype[first] & ell->geom_conaffinity[geom], 0);
    EXPECT_EQ(ell->geom_contype[geom] & ell->geom_conaffinity[first], 0);
  }
  for (int part = first + 1; part < first + ell->body_geomnum[body]; ++part)
    EXPECT_EQ(ell->geom_rgba[4 * part + 3], 0.0f);
  EXPECT_EQ(ell->mesh_facenum[ell->geom_dataid[first]], static_cast<int>(testing::Ell().triangles.size()));
}

// Half a second after it was put there an object lies where it was put, at the height of its own half.
TEST_F(MeshTask, ObjectsRestOnTheTableBesideTheCatalogues) {
  const auto envs = testing::MakeBatch(task_, 6);
  envs->Reset({});
  testing::Record record(*envs);
  std::set<std::string> names;
  std::vector<std::vector<float>> before;
  for (int env = 0; env < 6; ++env) {
    names.insert(envs->Object(env).name);
    before.push_back(record.Get<float>("aux.object_position", env));
  }
  EXPECT_EQ(names, std::set<std::string>({"brick", "cube_50", "ell"}));
  std::vector<float> actions;
  for (int env = 0; env < 6; ++env) actions.insert(actions.end(), {1, -1, 1});
  for (int step = 0; step < 5; ++step) envs->Step(actions.data());
  record.Read();
  for (int env = 0; env < 6; ++env) {
    const std::vector<float>& a = before[static_cast<size_t>(env)];
    const std::vector<float> b = record.Get<float>("aux.object_position", env);
    EXPECT_NEAR(a[2], task_.table_z_m + envs->Object(env).half_height_m, 1e-6);
    if (a[1] < 0.15f) continue;  // within the hand's reach
    EXPECT_LT(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), 2e-3) << envs->Object(env).name;
  }
  EXPECT_EQ(envs->Faults(), 0u);
  const std::vector<std::string> all = envs->ObjectNames();
  EXPECT_NE(std::find(all.begin(), all.end(), "ball"), all.end());
}

TEST_F(MeshTask, SameBitsInAnyGroupingWithMassesRandomised) {
  task_.randomise.enabled = true;
  task_.curriculum.start = 50;
  const auto whole = testing::MakeBatch(task_, 4, 9, 0, 2), first = testing::MakeBatch(task_, 1, 9, 0, 1),
             rest = testing::MakeBatch(task_, 3, 9, 1, 1);
  for (EnvBatch* envs : {whole.get(), first.get(), rest.get()}) envs->Reset({});
  for (int step = 0; step < 30; ++step) {
    testing::StepRandomly(*whole, 0, step);
    testing::StepRandomly(*first, 0, step);
    testing::StepRandomly(*rest, 1, step);
  }
  EXPECT_EQ(testing::Record(*whole).Bytes(0), testing::Record(*first).Bytes(0));
  for (int env = 1; env < 4; ++env)
    EXPECT_EQ(testing::Record(*whole).Bytes(env), testing::Record(*rest).Bytes(env - 1));
}

TEST_F(MeshTask, AFileNamedLikeACatalogueObjectIsRefused) {
  folder_.WriteObj("cube_50", testing::Ell());
  const std::string words = Refusal([&] { const ModelSet models(task_); });
  EXPECT_NE(words.find("cube_50.obj"), std::string::npos) << words;
}

TEST_F(MeshTask, MeshesWithoutAFolderAreRefused) {
  task_.meshes = {};
  const std::string words = Refusal([&] { const ModelSet models(task_); });
  EXPECT_NE(words.find("task.meshes.folder"), std::string::npos) << words;
}

}  // namespace
}  // namespace gripstream
