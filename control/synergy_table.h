// The hand's synergies as a file: orthonormal directions over the hand's joints, the range of each coordinate over the
// postures that they were fitted to, and how they were made. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/synergies.h"
#include "core/config.h"

namespace gripstream {

inline constexpr int kMaxSynergies = 16;

struct SynergyTable {
  int joints = 0;
  std::vector<double> directions, low, high;
  uint64_t seed = 0;
  int postures = 0;
  double share = 0;

  void Fields(FieldVisitor& v) {
    v.Int("joints", joints, {.doc = "joints of the hand", .required = true}, {0, 64});
    v.Floats("directions", directions, 0, {.doc = "one row of `joints` numbers after the other", .required = true});
    v.Floats("low", low, 0, {.doc = "least coordinate of each row over the fitted postures; empty: not known"});
    v.Floats("high", high, 0, {.doc = "greatest coordinate of each row; empty: not known"});
    v.Uint64("seed", seed, {.doc = "of the generator, 0: not generated"});
    v.Int("postures", postures, {.doc = "postures that the directions were fitted to"}, {0, 1 << 30});
    v.Float("share", share, {.doc = "of the postures' sum of squares about their mean that the directions hold"});
  }
  int Count() const { return joints == 0 ? 0 : static_cast<int>(directions.size()) / joints; }
  HandSynergies Rows(const std::string& where) const;
  // As a file, six decimals.
  std::string ToText() const;
};

// Throws InputError naming `file` and the key when the table does not fit a hand of `hand_joints`.
void CheckSynergyTable(const SynergyTable& table, const std::string& file, size_t hand_joints);

}  // namespace gripstream
