// Tests envs/parts_cache.h.
#include "envs/parts_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/files.h"
#include "tests/envs/meshes.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;
using testing::MeshFolder;

constexpr ConvexLimits kCoarse = {.parts = 4, .vertices = 16, .resolution = 2000};

bool Same(const std::vector<TriangleMesh>& a, const std::vector<TriangleMesh>& b) {
  const auto same_vertex = [](const Vec3& p, const Vec3& q) { return p.x == q.x && p.y == q.y && p.z == q.z; };
  return std::ranges::equal(a, b, [&](const TriangleMesh& p, const TriangleMesh& q) {
    return p.triangles == q.triangles && std::ranges::equal(p.vertices, q.vertices, same_vertex);
  });
}

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path().string());
  return files;
}

// A file that is written anew is another one.
ino_t Identity(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

TEST(PartsCache, APartIsMadeOnceAndReadAsItWas) {
  const MeshFolder folder;
  const std::string cache = folder / "parts";
  const std::vector<TriangleMesh> made = ConvexParts(testing::Ell(), kCoarse, "L");
  EXPECT_TRUE(Same(CachedConvexParts(testing::Ell(), kCoarse, "L", cache), made));
  ASSERT_EQ(FilesOf(cache).size(), 1u) << "no temporary file is left";
  const ino_t first = Identity(FilesOf(cache)[0]);
  EXPECT_TRUE(Same(CachedConvexParts(testing::Ell(), kCoarse, "L", cache), made));
  EXPECT_EQ(Identity(FilesOf(cache)[0]), first);
  CachedConvexParts(testing::Ell(), {.parts = 1, .vertices = 16, .resolution = 2000}, "L", cache);
  EXPECT_EQ(FilesOf(cache).size(), 2u) << "other limits, other parts";
}

TEST(PartsCache, WhatIsDamagedCutShortOrAnotherMeshsIsMadeAnew) {
  const MeshFolder folder;
  const std::string cache = folder / "parts";
  const TriangleMesh box = testing::Box({0, 0, 0}, {0.1, 0.05, 0.04});
  const std::vector<TriangleMesh> made = CachedConvexParts(testing::Ell(), kCoarse, "L", cache);
  const std::string file = FilesOf(cache)[0], whole = ReadText(file);
  CachedConvexParts(box, kCoarse, "box", folder / "other");
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  for (const std::string& content : {std::string(), std::string("rubbish"), whole.substr(0, whole.size() - 1), flipped,
                                     whole + "x", ReadText(FilesOf(folder / "other")[0])}) {
    WriteFileAtomically(file, std::string_view(content));
    EXPECT_TRUE(Same(CachedConvexParts(testing::Ell(), kCoarse, "L", cache), made));
    EXPECT_EQ(ReadText(file), whole);
  }
}

TEST(PartsCache, SeveralProcessesAtOnceFindTheSameParts) {
  const MeshFolder folder;
  const std::string cache = folder / "parts";
  const std::vector<TriangleMesh> made = ConvexParts(testing::Ell(), kCoarse, "L");
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(Same(CachedConvexParts(testing::Ell(), kCoarse, "L", cache), made) ? 0 : 1);
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(FilesOf(cache).size(), 1u);
}

TEST(PartsCache, AFolderThatCannotBeWrittenIsNoFailure) {
  const MeshFolder folder;
  folder.WriteObj("file", testing::Ell());
  EXPECT_FALSE(CachedConvexParts(testing::Ell(), kCoarse, "L", (folder / "file.obj") + "/parts").empty());
}

TEST(PartsCache, ItsFolderIsWhereTheEnvironmentSays) {
  const MeshFolder folder;  // sets GRIPSTREAM_CACHE
  EXPECT_EQ(PartsCacheFolder(), (folder / "cache") + "/convex_parts");
  setenv("GRIPSTREAM_CACHE", "", 1);
  EXPECT_EQ(PartsCacheFolder(), "");
  unsetenv("GRIPSTREAM_CACHE");
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(PartsCacheFolder(), "/somewhere/gripstream/convex_parts");
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace gripstream
