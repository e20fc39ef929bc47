// Tests envs/catalogue.h.
#include "envs/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using ::testing::HasSubstr;

TEST(Catalogue, ShippedFileHoldsTwentyTrainingAndEightHeldOutObjects) {
  const std::vector<CatalogueObject> objects = ReadCatalogue(testing::kAssets + "objects.xml");
  int held_out = 0;
  for (const CatalogueObject& object : objects) held_out += object.held_out ? 1 : 0;
  EXPECT_EQ(objects.size(), 28u);
  EXPECT_EQ(held_out, 8);
  EXPECT_EQ(objects[0].name, "cube_40");
  EXPECT_DOUBLE_EQ(objects[0].half_height_m, 0.02);
}

TEST(Catalogue, SelectionTakesGroupsAndNamesOnceInCatalogueOrderOfMention) {
  const std::vector<CatalogueObject> objects = ReadCatalogue(testing::kAssets + "objects.xml");
  EXPECT_EQ(SelectObjects(objects, {"train"}, "x").size(), 20u);
  EXPECT_EQ(SelectObjects(objects, {"heldout"}, "x").size(), 8u);
  EXPECT_EQ(SelectObjects(objects, {"all"}, "x").size(), 28u);
  const std::vector<int> chosen = SelectObjects(objects, {"cube_50", "cube_40", "cube_50"}, "x");
  EXPECT_EQ(chosen, (std::vector<int>{1, 0}));
}

TEST(Catalogue, UnknownObjectIsRefusedWithTheNearestName) {
  const std::vector<CatalogueObject> objects = ReadCatalogue(testing::kAssets + "objects.xml");
  try {
    SelectObjects(objects, {"cubes_50"}, "objects.xml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("objects.xml: task.objects: got 'cubes_50'"));
    EXPECT_THAT(error.what(), HasSubstr("'cube_50'"));
  }
}

TEST(Catalogue, BodyWithoutUserNumbersIsRefusedByName) {
  const std::string path = testing::TemporaryFile(
      "bare_objects.xml", "<mujoco><worldbody><body name='thing'><geom size='0.1'/></body></worldbody></mujoco>");
  try {
    ReadCatalogue(path);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("thing"));
  }
}

TEST(Catalogue, FileWithoutObjectsIsRefused) {
  const std::string path = testing::TemporaryFile("no_objects.xml", "<mujoco/>");
  EXPECT_THROW(ReadCatalogue(path), InputError);
}

}  // namespace
}  // namespace gripstream
