// Tests core/metrics.h and core/event_file.h.
#include "core/metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <protozero/pbf_reader.hpp>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {
namespace {

class MetricsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / ("gripstream_metrics_" + std::to_string(getpid()))).string();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(MetricsTest, WritesAHeaderAndARowPerIteration) {
  MetricsWriter writer(folder_, -1);
  writer.Write(1, {{"a/b", 0.5}, {"c", 2}});
  writer.Write(2, {{"a/b", -1e-9}, {"c", 3e9}});
  EXPECT_EQ(ReadText(folder_ + "/metrics.csv"), "iteration,a/b,c\n1,0.5,2\n2,-1e-09,3e+09\n");
}

TEST_F(MetricsTest, AfterAResumeTheFileReadsAsIfTheRunHadNeverStopped) {
  {
    MetricsWriter writer(folder_, -1);
    for (int i = 1; i <= 5; ++i) writer.Write(i, {{"x", i}});
  }
  {
    MetricsWriter writer(folder_, 3);
    for (int i = 4; i <= 6; ++i) writer.Write(i, {{"x", 10 * i}});
  }
  EXPECT_EQ(ReadText(folder_ + "/metrics.csv"), "iteration,x\n1,1\n2,2\n3,3\n4,40\n5,50\n6,60\n");
}

TEST_F(MetricsTest, AResumedRunRefusesAFileThatIsNotItsOwn) {
  WriteFileAtomically(folder_ + "/metrics.csv", "garbage\n1,2\n");
  EXPECT_THROW(MetricsWriter(folder_, 3), InputError);
}

TEST_F(MetricsTest, ARunThatAnotherVersionBeganKeepsTheColumnsOfBoth) {
  WriteFileAtomically(folder_ + "/metrics.csv", "iteration,old,x\n1,7,1\n2,8,2\n3,9,3\n");
  {
    MetricsWriter writer(folder_, 2);
    writer.Write(3, {{"x", 3}, {"new", 30}});
    writer.Write(4, {{"x", 4}, {"new", 40}});
    EXPECT_THROW(writer.Write(5, {{"x", 5}}), InternalError);
  }
  const std::string both = "iteration,x,new,old\n1,1,nan,7\n2,2,nan,8\n3,3,30,nan\n4,4,40,nan\n";
  EXPECT_EQ(ReadText(folder_ + "/metrics.csv"), both);
  MetricsWriter(folder_, 4).Write(5, {{"x", 5}, {"new", 50}});
  EXPECT_EQ(ReadText(folder_ + "/metrics.csv"), both + "5,5,50,nan\n");
}

TEST_F(MetricsTest, AColumnThatChangesIsOurBug) {
  MetricsWriter writer(folder_, -1);
  writer.Write(1, {{"x", 1}});
  EXPECT_THROW(writer.Write(2, {{"y", 1}}), InternalError);
}

// Walks the TFRecord framing by hand: length, its CRC, payload, its CRC.
std::vector<std::string> Payloads(const std::string& bytes) {
  std::vector<std::string> payloads;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    payloads.push_back(bytes.substr(at + 12, length));
    at += 12 + length + 4;
  }
  return payloads;
}

TEST_F(MetricsTest, TheEventFileHoldsVersionThenScalars) {
  EventFile events(folder_);
  events.WriteScalars(7, {{"loss", 0.25}});
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) path = entry.path();
  const std::vector<std::string> payloads = Payloads(ReadText(path));
  ASSERT_EQ(payloads.size(), 2u);
  EXPECT_NE(payloads[0].find("brain.Event:2"), std::string::npos);
  protozero::pbf_reader event(payloads[1]);
  ASSERT_TRUE(event.next(2));
  EXPECT_EQ(event.get_int64(), 7);
  ASSERT_TRUE(event.next(5));
  protozero::pbf_reader summary = event.get_message();
  ASSERT_TRUE(summary.next(1));
  protozero::pbf_reader value = summary.get_message();
  ASSERT_TRUE(value.next(1));
  EXPECT_EQ(value.get_string(), "loss");
  ASSERT_TRUE(value.next(2));
  EXPECT_EQ(value.get_float(), 0.25f);
}

// The length field of the first record, its CRC-32C recomputed with an independent bitwise loop.
TEST_F(MetricsTest, TheFramingsChecksumIsMaskedCrc32c) {
  EventFile events(folder_);
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) path = entry.path();
  const std::string bytes = ReadText(path);
  uint32_t crc = ~0u;
  for (size_t i = 0; i < 8; ++i) {
    crc ^= static_cast<uint8_t>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
  }
  crc = ~crc;
  uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + 8, sizeof(stored));
  EXPECT_EQ(stored, ((crc >> 15) | (crc << 17)) + 0xA282EAD8u);
}

}  // namespace
}  // namespace gripstream
