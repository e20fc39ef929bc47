// Tests core/files.h.
#include "core/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace gripstream {
namespace {

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("gripstream_files_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  std::filesystem::path folder_;
};

TEST_F(FilesTest, WhatIsWrittenIsReadBack) {
  const std::string text("a\0b\n", 4);
  WriteFileAtomically(Path("x"), text);
  EXPECT_EQ(ReadText(Path("x")), text);
  WriteFileAtomically(Path("x"), "shorter");
  EXPECT_EQ(ReadText(Path("x")), "shorter");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(FilesTest, AFullDiskKeepsTheOldFileAndLeavesNothingElse) {
  WriteFileAtomically(Path("x"), "the last good one");
  const pid_t child = fork();
  if (child == 0) {
    // A limit on file size stands in for a full disk: write() fails half-way in the same place.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      WriteFileAtomically(Path("x"), std::string(100000, 'y'));
      _exit(1);
    } catch (const RunError&) {
      _exit(0);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(ReadText(Path("x")), "the last good one");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(FilesTest, ALinkStaysALinkToWhatIsWritten) {
  std::ofstream(Path("target")) << "old";
  std::filesystem::create_symlink("target", Path("link"));
  WriteFileAtomically(Path("link"), std::string("new"));
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(ReadText(Path("target")), "new");
}

TEST_F(FilesTest, APipeStaysAPipe) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const int reader = open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  WriteFileAtomically(Path("pipe"), std::string("through"));
  char text[16] = "";
  EXPECT_EQ(read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(Path("pipe")));
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(FilesTest, AFolderOrAMissingFileIsBadInput) {
  EXPECT_THROW(ReadText(folder_.string()), InputError);
  EXPECT_THROW(ReadText(Path("missing")), InputError);
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace gripstream
