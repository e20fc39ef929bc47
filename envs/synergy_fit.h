// Fits hand synergies to grasps: closes the hand on the training objects, each held still where the fingers meet, with
// random speeds per finger and joint, and takes the principal directions of the postures on the way.
//
//   postures [P, H] -> second moments about zero -> `components` orthonormal rows, coordinates = row . posture
//
// No mean is subtracted, so that the first row is near the mean posture. Same configuration and seed, same table. Runs
// on the calling thread for some seconds. Throws InputError where ModelSet does, and for a hand that the postures do
// not fit.
#pragma once

#include <cstdint>
#include <vector>

#include "control/synergy_table.h"
#include "envs/config.h"

namespace gripstream {

struct SynergyFitOptions {
  uint64_t seed = 1;
  int components = 5;
  int trials = 12;  // per object
  // Hand postures between which the hand closes; those of the shipped hand.
  std::vector<double> open = {0, 0, 0.2, 0.2, 0, 0, 0.2, 0.2, 0, 0, 0.2, 0.2, 1.2, 0, 0.1, 0.1};
  std::vector<double> closed = {0, 1.4, 1.2, 1.0, 0, 1.4, 1.2, 1.0, 0, 1.4, 1.2, 1.0, 1.4, 0.9, 1.2, 1.0};
  double spread_rad = 0.2;  // random part of every joint's start and end
};

SynergyTable FitSynergies(const TaskConfig& task, const SynergyFitOptions& options);

// Eigenvectors of a symmetric matrix [n, n] by Jacobi rotations, as rows, greatest eigenvalue first; `values` receives
// the eigenvalues.
std::vector<double> SymmetricEigenvectors(std::vector<double> matrix, size_t n, std::vector<double>& values);

}  // namespace gripstream
