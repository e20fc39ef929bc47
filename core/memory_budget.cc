#include "core/memory_budget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/error.h"

namespace gripstream {

double MemoryBudget::Bytes(int64_t envs) const {
  double held = 0;
  for (const MemoryPart& part : parts) held += part.passing ? 0 : part.Bytes(envs);
  const MemoryPart* passing = Passing(envs);
  return held + (passing ? passing->Bytes(envs) : 0);
}

const MemoryPart* MemoryBudget::Passing(int64_t envs) const {
  const MemoryPart* largest = nullptr;
  for (const MemoryPart& part : parts) {
    if (part.passing && (!largest || part.Bytes(envs) > largest->Bytes(envs))) largest = &part;
  }
  return largest;
}

int64_t MemoryBudget::MostEnvs(double limit_bytes) const {
  return gripstream::MostEnvs([this](int64_t envs) { return Bytes(envs); }, limit_bytes);
}

int64_t MostEnvs(const std::function<double(int64_t)>& bytes, double limit_bytes) {
  if (bytes(0) > limit_bytes) return -1;
  int64_t fits = 0, too_many = MemoryBudget::kMostEnvs + 1;
  while (too_many - fits > 1) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (bytes(middle) <= limit_bytes ? fits : too_many) = middle;
  }
  return fits;
}

std::string MemoryTable(const MemoryBudget& budget, int64_t envs, const std::vector<MemoryUse>& real) {
  std::string table;
  const auto add = [&](const std::string& name, const std::string& planned, const std::string& measured) {
    char line[160];
    std::snprintf(line, sizeof line, real.empty() ? "  %-34s %10s%s\n" : "  %-34s %10s %10s\n", name.c_str(),
                  planned.c_str(), measured.c_str());
    table += line;
  };
  for (const MemoryPart& part : budget.parts) {
    const auto found = std::ranges::find(real, part.name, &MemoryUse::part);
    const std::string measured = found == real.end() ? "" : FormatBytes(found->bytes);
    add(part.name + (part.passing ? ", for a time" : ""), FormatBytes(part.Bytes(envs)), measured);
  }
  for (const MemoryUse& use : real) {
    if (std::ranges::find(budget.parts, use.part, &MemoryPart::name) == budget.parts.end()) {
      add(use.part, "", FormatBytes(use.bytes));
    }
  }
  if (!budget.parts.empty()) add("at the worst moment", FormatBytes(budget.Bytes(envs)), "");
  return table;
}

const MemoryPart* MemoryBudget::Growing(int64_t envs) const {
  const MemoryPart *most = nullptr, *passing = Passing(envs);
  for (const MemoryPart& part : parts) {
    if (part.bytes_per_env <= 0 || (part.passing && &part != passing)) continue;
    if (!most || part.bytes_per_env > most->bytes_per_env) most = &part;
  }
  return most;
}

std::string FormatBytes(double bytes) {
  constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  char text[32];
  for (const auto& [size, unit] : kUnits) {
    if (std::fabs(bytes) < 0.9995 * size) continue;
    std::snprintf(text, sizeof text, "%.3g %s", bytes / size, unit);
    return text;
  }
  std::snprintf(text, sizeof text, "%.0f B", bytes);
  return text;
}

double ParseBytes(std::string_view text, const std::string& key) {
  constexpr std::array<std::pair<std::string_view, double>, 10> kUnits = {{{"", 1},
                                                                           {"B", 1},
                                                                           {"kB", 1e3},
                                                                           {"MB", 1e6},
                                                                           {"GB", 1e9},
                                                                           {"TB", 1e12},
                                                                           {"KiB", 1024.0},
                                                                           {"MiB", 1048576.0},
                                                                           {"GiB", 1073741824.0},
                                                                           {"TiB", 1099511627776.0}}};
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  while (*end == ' ') ++end;
  for (const auto& [unit, size] : kUnits) {
    if (end == copy.c_str() || unit != end || !std::isfinite(number) || number <= 0) continue;
    return number * size;
  }
  throw InputError("command line", key, copy, "a size such as 80GB, 512MiB or 16e9");
}

}  // namespace gripstream
