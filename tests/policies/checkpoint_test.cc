// Tests policies/checkpoint.h and policies/safetensors.h.
#include "policies/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/rng.h"
#include "policies/checkpoint_names.h"
#include "policies/initialise.h"
#include "policies/safetensors.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("gripstream_checkpoint_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "a.safetensors").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Checkpoint Example() {
    Checkpoint c;
    c.tensors = {{"policy.weight", NormalTensor(RandomStream(1, "x").At(0, 0), {3, 4}, 1.0)},
                 {"normalizer.state", at::full({5}, 0.1, torch::kFloat64)},
                 {"optimiser.steps", at::full({1}, int64_t{1} << 40, torch::kInt64)},
                 {"env_state", at::full({2, 3}, 255, torch::kUInt8)},
                 {"depth", at::full({2}, 65535, torch::kInt32).to(torch::kUInt16)},
                 {"empty", at::empty({0, 7})}};
    c.counters = {{"iteration", 12}, {"env_steps", int64_t{1} << 50}};
    c.texts = {{"config", "run:\n  seed: 1\n"}};
    return c;
  }

  std::string ErrorOfLoading() const {
    try {
      LoadCheckpoint(path_);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  // A file with this JSON header and these data bytes.
  void WriteRaw(const std::string& header, const std::string& data) const {
    std::string file(8, '\0');
    const uint64_t length = header.size();
    std::memcpy(file.data(), &length, 8);
    WriteFileAtomically(path_, file + header + data);
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(CheckpointTest, LoadsWhatWasSavedBitForBit) {
  const Checkpoint saved = Example();
  SaveCheckpoint(path_, saved);
  const Checkpoint loaded = LoadCheckpoint(path_);
  ASSERT_EQ(loaded.tensors.size(), saved.tensors.size());
  for (size_t i = 0; i < saved.tensors.size(); ++i) {
    EXPECT_EQ(loaded.tensors[i].name, saved.tensors[i].name);
    EXPECT_EQ(loaded.tensors[i].value.scalar_type(), saved.tensors[i].value.scalar_type());
    EXPECT_TRUE(loaded.tensors[i].value.equal(saved.tensors[i].value)) << saved.tensors[i].name;
  }
  EXPECT_EQ(loaded.counters, saved.counters);
  EXPECT_EQ(loaded.texts.at("config"), saved.texts.at("config"));
  EXPECT_NO_THROW(RequireSameTensors(loaded, path_, saved.tensors));
}

TEST_F(CheckpointTest, TheFileIsPlainSafetensors) {
  SaveCheckpoint(path_, Example());
  const std::string bytes = ReadText(path_);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes[8], '{');
  EXPECT_THAT(bytes.substr(8, length),
              HasSubstr(R"("policy.weight":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]})"));
}

TEST_F(CheckpointTest, ATruncatedFileIsRefusedWhereverItEnds) {
  SaveCheckpoint(path_, Example());
  const std::string whole = ReadText(path_);
  for (const size_t size : {size_t{0}, size_t{5}, size_t{8}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    WriteFileAtomically(path_, whole.substr(0, size));
    EXPECT_THAT(ErrorOfLoading(), AllOf(HasSubstr(path_), testing::AnyOf(HasSubstr("truncated"), HasSubstr("shorter"))))
        << size;
  }
}

TEST_F(CheckpointTest, ADamagedByteInTheDataIsFound) {
  SaveCheckpoint(path_, Example());
  std::string bytes = ReadText(path_);
  bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
  WriteFileAtomically(path_, bytes);
  EXPECT_THAT(ErrorOfLoading(), AllOf(HasSubstr("SHA-256"), HasSubstr("damaged")));
}

TEST_F(CheckpointTest, TrailingBytesAreRefused) {
  SaveCheckpoint(path_, Example());
  WriteFileAtomically(path_, ReadText(path_) + "x");
  EXPECT_THAT(ErrorOfLoading(), HasSubstr("bytes of data"));
}

TEST_F(CheckpointTest, ForeignFilesAreRefused) {
  WriteFileAtomically(path_, std::string("PK\x03\x04 this is a zip archive, or so it says"));
  EXPECT_THAT(ErrorOfLoading(), HasSubstr("not a safetensors file"));
  WriteRaw("[1, 2, 3]", "");
  EXPECT_THAT(ErrorOfLoading(), HasSubstr("no JSON object"));
  WriteRaw(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd");
  EXPECT_THAT(ErrorOfLoading(), AllOf(HasSubstr("format"), HasSubstr("gripstream.checkpoint")));
}

TEST_F(CheckpointTest, AnotherVersionIsRefused) {
  WriteRaw(R"({"__metadata__":{"format":"gripstream.checkpoint","format_version":"99"}})", "");
  EXPECT_THAT(ErrorOfLoading(), AllOf(HasSubstr("format_version"), HasSubstr("'99'"), HasSubstr("expected 1")));
}

TEST_F(CheckpointTest, HeadersThatLieAreRefused) {
  const char* headers[] = {
      R"({"w":7})",
      R"({"w":{"dtype":"F32","shape":[1]}})",
      R"({"w":{"dtype":"X9","shape":[1],"data_offsets":[0,4]}})",
      R"({"w":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
      R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
      R"({"w":{"dtype":"F32","shape":"one","data_offsets":[0,4]}})",
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4000000]}})",
      R"({"w":{"dtype":"F32","shape":[281474976710656,281474976710656,281474976710656],"data_offsets":[0,4]}})",
      R"({"w":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})",
      R"({"__metadata__":{"a":1},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"__metadata__":7,"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
  };
  for (const char* header : headers) {
    WriteRaw(header, "abcd");
    try {
      ReadSafetensors(path_);
      ADD_FAILURE() << "accepted " << header;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path_)) << header;
    }
  }
}

TEST_F(CheckpointTest, EveryByteOfASmallHeaderMayBeDamagedWithoutHarm) {
  SaveCheckpoint(path_, {.tensors = {{"w", at::ones({2})}}, .counters = {}, .texts = {}});
  const std::string whole = ReadText(path_);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x15);
    WriteFileAtomically(path_, bytes);
    try {
      LoadCheckpoint(path_);  // a changed letter of a name is legal; whatever is not ends in InputError
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path_));
    }
  }
}

TEST_F(CheckpointTest, AnotherNetworkIsNamedByItsFirstTensor) {
  const Checkpoint c = Example();
  const auto error_of = [&](const std::vector<NamedTensor>& expected) {
    try {
      RequireSameTensors(c, path_, expected);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  std::vector<NamedTensor> expected = c.tensors;
  expected[0].value = at::empty({3, 5});
  EXPECT_THAT(error_of(expected), AllOf(HasSubstr("policy.weight"), HasSubstr("[3, 4]"), HasSubstr("[3, 5]")));
  expected[0] = {"policy.other", at::empty({1})};
  EXPECT_THAT(error_of(expected), HasSubstr("policy.other"));
  expected = c.tensors;
  expected.erase(expected.begin());
  EXPECT_THAT(error_of(expected), HasSubstr("policy.weight"));
}

TEST_F(CheckpointTest, MissingTensorsAndCountersAreNamed) {
  const Checkpoint c = Example();
  EXPECT_THROW(c.Tensor("no such", path_), InputError);
  EXPECT_THROW(c.Counter("no such", path_), InputError);
  EXPECT_EQ(c.Counter("iteration", path_), 12);
}

TEST_F(CheckpointTest, TheFolderKeepsTheNewestAndTheBest) {
  const CheckpointFolder folder(folder_.string(), 2);
  const std::string first = folder.Save(Example(), 9);
  folder.MarkBest(first);
  folder.Save(Example(), 10);
  folder.Save(Example(), 1000000);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, testing::UnorderedElementsAre("iteration_000010.safetensors", "iteration_1000000.safetensors",
                                                   "best.safetensors"));
  EXPECT_EQ(CheckpointsNewestFirst(folder_.string()).front().filename(), "iteration_1000000.safetensors");
  EXPECT_NO_THROW(LoadCheckpoint((folder_ / "best.safetensors").string()));
}

TEST_F(CheckpointTest, AnEmptyOrMissingFolderHasNoNewest) {
  EXPECT_TRUE(CheckpointsNewestFirst(folder_.string()).empty());
  EXPECT_TRUE(CheckpointsNewestFirst((folder_ / "none").string()).empty());
}

TEST_F(CheckpointTest, AFailedWriteLeavesTheOlderFileAlone) {
  SaveCheckpoint(path_, Example());
  const std::string before = ReadText(path_);
  fs::create_directories(path_ + ".dir");
  EXPECT_THROW(SaveCheckpoint(path_ + ".dir", Example()), RunError);  // a folder is in the way
  EXPECT_THROW(SaveCheckpoint((folder_ / "none" / "x").string(), Example()), RunError);
  EXPECT_EQ(ReadText(path_), before);
}

}  // namespace
}  // namespace gripstream
