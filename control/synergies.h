// A hand posture as a few coordinates: orthonormal rows over the hand's joints.
//
//   coordinates = rows * q           (no mean is subtracted)
//   q = rest + rows^T (coordinates - rows * rest)
//
// so that what the rows do not span stays at the rest posture. Immutable after construction; thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace gripstream {

class HandSynergies {
 public:
  // Orthonormalises `directions` in order (Gram-Schmidt). Throws InputError naming `where` when their lengths differ or
  // they are not linearly independent.
  HandSynergies(const std::vector<std::vector<double>>& directions, const std::string& where);

  int Count() const { return static_cast<int>(count_); }
  int Joints() const { return static_cast<int>(joints_); }
  const std::vector<double>& Rows() const { return rows_; }  // [Count(), Joints()]

  void Project(std::span<const double> q, std::span<double> coordinates) const;
  void Lift(std::span<const double> coordinates, std::span<const double> rest, std::span<double> q) const;

 private:
  size_t count_, joints_;
  std::vector<double> rows_;
};

}  // namespace gripstream
