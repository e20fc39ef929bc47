#include "control/synergy_table.h"

#include <cstdio>

#include "core/error.h"

namespace gripstream {
namespace {

std::string Line(const double* values, size_t count) {
  std::string text;
  char number[32];
  for (size_t i = 0; i < count; ++i) {
    std::snprintf(number, sizeof number, "%s%.6f", i == 0 ? "" : ", ", values[i]);
    text += number;
  }
  return text;
}

}  // namespace

HandSynergies SynergyTable::Rows(const std::string& where) const {
  std::vector<std::vector<double>> rows;
  for (int r = 0; r < Count(); ++r) {
    const auto first = directions.begin() + r * joints;
    rows.emplace_back(first, first + joints);
  }
  return HandSynergies(rows, where);
}

std::string SynergyTable::ToText() const {
  std::string text =
      "# Synergies of a hand: orthonormal directions over its joints, principal directions of grasping postures about\n"
      "# zero, and the range of each coordinate. Made by `gripstream synergies` from the seed below.\n";
  text += "joints: " + std::to_string(joints) + "\ndirections: [\n";
  const size_t rows = static_cast<size_t>(Count()), width = static_cast<size_t>(joints);
  for (size_t r = 0; r < rows; ++r) text += "  " + Line(&directions[r * width], width) + (r + 1 < rows ? ",\n" : "]\n");
  text += "low: [" + Line(low.data(), low.size()) + "]\nhigh: [" + Line(high.data(), high.size()) + "]\n";
  text += "seed: " + std::to_string(seed) + "\npostures: " + std::to_string(postures) + "\n";
  return text + "share: " + Line(&share, 1) + "\n";
}

void CheckSynergyTable(const SynergyTable& table, const std::string& file, size_t hand_joints) {
  if (static_cast<size_t>(table.joints) != hand_joints)
    throw InputError(file, "joints", std::to_string(table.joints), std::to_string(hand_joints) + ", those of the hand");
  const size_t rows = static_cast<size_t>(table.Count());
  if (rows * hand_joints != table.directions.size() || rows == 0 || rows > kMaxSynergies)
    throw InputError(file, "directions", std::to_string(table.directions.size()) + " numbers",
                     "1 to " + std::to_string(kMaxSynergies) + " rows of " + std::to_string(hand_joints));
  for (const auto* range : {&table.low, &table.high}) {
    if (!range->empty() && range->size() != rows)
      throw InputError(file, "low and high", std::to_string(range->size()) + " numbers", std::to_string(rows));
  }
}

}  // namespace gripstream
