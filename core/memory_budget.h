// A role's memory as planned: components, each a straight line over the role's environments.
//
//   budget.parts (held or passing) -> Bytes(envs) -> MostEnvs(limit)
//
// Held parts add up; of the passing ones (an update, a checkpoint) one is there at a time, so the largest counts. Plain
// values; pure functions. N = environments of one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gripstream {

struct MemoryPart {
  std::string name;
  double fixed_bytes = 0;
  double bytes_per_env = 0;
  bool passing = false;

  double Bytes(int64_t envs) const { return fixed_bytes + bytes_per_env * static_cast<double>(envs); }
};

struct MemoryBudget {
  std::vector<MemoryPart> parts;

  // Of N environments at the worst moment.
  double Bytes(int64_t envs) const;
  // The largest N that fits; -1 when not even none does. At most kMostEnvs, which means that nothing grows with N.
  int64_t MostEnvs(double limit_bytes) const;
  // The part that grows most from one environment to the next where N have their worst moment; null when none grows.
  const MemoryPart* Growing(int64_t envs) const;
  // The largest passing part; null when there is none.
  const MemoryPart* Passing(int64_t envs) const;

  static constexpr int64_t kMostEnvs = int64_t{1} << 30;
};

// The largest N whose bytes(N), which never falls with N, fit; as MemoryBudget::MostEnvs.
int64_t MostEnvs(const std::function<double(int64_t)>& bytes, double limit_bytes);

// What a part really takes, as measured.
struct MemoryUse {
  std::string part;
  double bytes = 0;
};
// One line per part: planned for N environments, beside what `real` has of it; and the sum at the worst moment.
std::string MemoryTable(const MemoryBudget& budget, int64_t envs, const std::vector<MemoryUse>& real = {});

// "1.25 GB", "38.4 kB", "12 B": powers of ten.
std::string FormatBytes(double bytes);
// "80GB", "512 MiB", "1.5e9": bytes. Throws InputError naming `key` when it is none, or not positive.
double ParseBytes(std::string_view text, const std::string& key);

}  // namespace gripstream
