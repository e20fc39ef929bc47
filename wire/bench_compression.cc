#include "wire/bench_compression.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "core/clock.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "wire/record_codec.h"

namespace gripstream {
namespace {

constexpr int kHeight_px = 48, kWidth_px = 64, kEnvs = 256;
constexpr int kRounds = 5;
constexpr float kNoise_m = 0.0005f;
constexpr double kBitsPerGigabit = 1e9 / 8;

// Depth of one environment's scene at a pixel: the nearer of a sphere's front and the table.
float SceneDepth(float x, float y, const float (&sphere)[3]) {
  const float table_m = 0.9f - 0.25f * y;
  const float dx = x - sphere[0], dy = y - sphere[1];
  const float inside = sphere[2] * sphere[2] - dx * dx - dy * dy;
  return inside > 0 ? std::min(table_m, table_m - 0.3f * std::sqrt(inside)) : table_m;
}

std::vector<std::byte> SceneRecord(const Layout& layout, bool noisy) {
  std::vector<std::byte> record(layout.Bytes());
  const std::span<uint16_t> depth = layout.View<uint16_t>(std::span(record), 0);
  const RandomStream stream(7, "compression bench");
  size_t pixel = 0;
  for (uint32_t env = 0; env < kEnvs; ++env) {
    Rng rng = stream.At(env, 0);
    const float sphere[3] = {rng.Uniform(-0.8f, 0.8f), rng.Uniform(-0.6f, 0.6f), rng.Uniform(0.1f, 0.4f)};
    for (int row = 0; row < kHeight_px; ++row) {
      for (int column = 0; column < kWidth_px; ++column, ++pixel) {
        const float x = static_cast<float>(column) / 32 - 1, y = static_cast<float>(row) / 24 - 1;
        const float noise_m = noisy ? kNoise_m * rng.Normal() : 0;
        depth[pixel] = static_cast<uint16_t>((SceneDepth(x, y, sphere) + noise_m) * 1e4f);
      }
    }
  }
  return record;
}

// Bytes per second of `once`, which handles `bytes`.
double Rate(double seconds, size_t bytes, const std::function<void()>& once) {
  const double start = ThreadSeconds();
  double elapsed = 0;
  size_t calls = 0;
  for (; elapsed < seconds || calls == 0; elapsed = ThreadSeconds() - start) once(), ++calls;
  return static_cast<double>(bytes * calls) / elapsed;
}

// A plain record of S bytes crosses a link of B bytes per second in S / B; a packed one takes S / pack + S / unpack and
// crosses in S / (B shrink). They take equally long at:
double BreakEven(double pack, double unpack, double shrink) {
  return std::max(0.0, (1 - 1 / shrink) / (1 / pack + 1 / unpack));
}

struct Measured {
  double shrink, pack, unpack, break_even;
};

Measured Measure(RecordCodec& codec, const std::vector<std::byte>& record, double seconds) {
  std::vector<std::byte> unpacked(record.size());
  const std::span<const std::byte> packed = codec.Pack(record);
  Measured measured{};
  measured.shrink = static_cast<double>(record.size()) / static_cast<double>(packed.size());
  measured.pack = Rate(seconds / 2, record.size(), [&] { codec.Pack(record); });
  const std::vector<std::byte> kept(packed.begin(), packed.end());
  measured.unpack = Rate(seconds / 2, record.size(), [&] { codec.Unpack(kept, unpacked); });
  measured.break_even = BreakEven(measured.pack, measured.unpack, measured.shrink);
  return measured;
}

std::string Fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

BenchRow Row(const std::string& compression, bool noisy, double seconds) {
  const Layout layout({{"depth", DType::kUint16, {kHeight_px, kWidth_px}, "m", 1e-4}}, kEnvs);
  const std::vector<std::byte> record = SceneRecord(layout, noisy);
  RecordCodec filtered(compression, layout), plain(compression, layout, false);
  std::vector<double> ours, peers, pack, unpack;
  Measured with{}, without{};
  for (int round = 0; round < kRounds; ++round) {
    with = Measure(filtered, record, seconds / (2 * kRounds));
    without = Measure(plain, record, seconds / (2 * kRounds));
    ours.push_back(with.break_even), peers.push_back(without.break_even);
    pack.push_back(with.pack), unpack.push_back(with.unpack);
  }
  const double our_link = Median(ours) / kBitsPerGigabit, peer_link = Median(peers) / kBitsPerGigabit;
  const std::string name = "wire " + compression + (noisy ? ", noisy depth" : ", clean depth") + " to 1/" +
                           Fixed(with.shrink) + ", packs " + Fixed(Median(pack) / 1e9) + " unpacks " +
                           Fixed(Median(unpack) / 1e9) + " GB/s: pays below";
  const double ratio = peer_link > 0 ? our_link / peer_link : NAN;
  return {name, our_link, peer_link, "without the filter", ratio, 1.0, "Gbit/s", peer_link > 0 ? "" : "it never pays"};
}

}  // namespace

std::vector<BenchRow> BenchCompression(double seconds) {
  std::vector<BenchRow> rows;
  for (const char* compression : {"lz4", "zstd"}) {
    for (const bool noisy : {false, true}) rows.push_back(Row(compression, noisy, seconds));
  }
  return rows;
}

}  // namespace gripstream
