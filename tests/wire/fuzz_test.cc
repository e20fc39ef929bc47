// Tests that nothing received can do more than be refused: tests/wire/fuzz_wire.h under mutations of well-formed input
// and of the finds that libFuzzer kept (tests/wire/corpus). tools/fuzz.sh is the long run.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/files.h"
#include "core/rng.h"
#include "tests/wire/fuzz_seeds.h"
#include "wire/unix_socket.h"

namespace gripstream {
namespace {

constexpr int kRoundsPerSeed = 150;

// Refusals are logged, which is right and here by the thousand: stderr goes nowhere for a while.
class Quiet {
 public:
  Quiet() : stderr_(dup(STDERR_FILENO)) {
    const UniqueFd nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
    dup2(nowhere.Get(), STDERR_FILENO);
  }
  ~Quiet() { dup2(stderr_.Get(), STDERR_FILENO); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  UniqueFd stderr_;
};

// Flips, overwrites with telling numbers, inserts, removes, repeats or cuts off.
void Mutate(Bytes& input, Rng& rng) {
  static constexpr uint64_t kTelling[] = {0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, ~0ull};
  const auto size = static_cast<uint32_t>(input.size());
  if (size == 0) return input.push_back(static_cast<std::byte>(rng.NextU32()));
  const auto at = static_cast<std::ptrdiff_t>(rng.Below(size));
  switch (rng.Below(6)) {
    case 0:
      input[static_cast<size_t>(at)] ^= static_cast<std::byte>(1u << rng.Below(8));
      return;
    case 1: {
      const uint64_t number = kTelling[rng.Below(std::size(kTelling))];
      std::memcpy(input.data() + at, &number,
                  std::min<size_t>(size_t{1} << rng.Below(4), size - static_cast<size_t>(at)));
      return;
    }
    case 2:
      input.insert(input.begin() + at, rng.Below(16), static_cast<std::byte>(rng.NextU32()));
      return;
    case 3:
      input.erase(input.begin() + at, input.begin() + std::min<std::ptrdiff_t>(size, at + rng.Below(16)));
      return;
    case 4: {
      const Bytes again(input.begin() + at, input.begin() + std::min<std::ptrdiff_t>(size, at + rng.Below(600)));
      input.insert(input.begin() + at, again.begin(), again.end());
      return;
    }
    default:
      input.resize(static_cast<size_t>(at));
  }
}

std::vector<Bytes> Corpus() {
  std::vector<Bytes> corpus = FuzzSeeds();
  const std::string folder = std::string(GRIPSTREAM_SOURCE_DIR) + "/tests/wire/corpus";
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) corpus.push_back(ReadBytes(path));
  return corpus;
}

TEST(Fuzz, EveryWellFormedInputIsAccepted) {
  for (const Bytes& seed : FuzzSeeds()) EXPECT_TRUE(FuzzOne(seed)) << static_cast<int>(seed[0]);
}

// The conversations get as far as they look: what is wrong with the last record is seen.
TEST(Fuzz, ADamagedLastRecordIsRefused) {
  const Quiet quiet;
  for (const char* compression : {"none", "lz4", "zstd"}) {
    Bytes conversation = Seed(4, LearnerConversation(compression));
    ASSERT_TRUE(FuzzOne(conversation)) << compression;
    const Bytes last = compression == std::string("none") ? SeedRecord(3) : PackedRecord(compression, 3);
    conversation[conversation.size() - last.size()] ^= std::byte{1};
    EXPECT_FALSE(FuzzOne(conversation)) << compression;
  }
}

TEST(Fuzz, WhatLibFuzzerFoundIsAcceptedOrRefused) {
  const std::vector<Bytes> corpus = Corpus();
  EXPECT_GT(corpus.size(), FuzzSeeds().size());
  const Quiet quiet;
  for (const Bytes& input : corpus) EXPECT_NO_THROW(FuzzOne(input));
}

TEST(Fuzz, MutationsAreAcceptedOrRefusedAndNothingElse) {
  const RandomStream stream(1, "fuzz");
  const Quiet quiet;
  int accepted = 0, runs = 0;
  const std::vector<Bytes> corpus = Corpus();
  for (uint32_t i = 0; i < corpus.size(); ++i) {
    for (int round = 0; round < kRoundsPerSeed; ++round, ++runs) {
      Rng rng = stream.At(i, static_cast<uint64_t>(round));
      Bytes input = corpus[i];
      for (uint32_t times = 1 + rng.Below(4); times > 0; --times) Mutate(input, rng);
      ASSERT_NO_THROW(accepted += FuzzOne(input)) << "seed " << i << ", round " << round;
    }
  }
  // Mutations that were all refused, or none, would say that the test tests nothing.
  EXPECT_GT(accepted, runs / 100);
  EXPECT_LT(accepted, runs * 9 / 10);
}

}  // namespace
}  // namespace gripstream
