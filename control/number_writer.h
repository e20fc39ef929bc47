// Writes numbers one after the other into a row. Not thread-safe; the row belongs to the caller.
#pragma once

#include <span>

#include "control/math3.h"

namespace gripstream {

class NumberWriter {
 public:
  explicit NumberWriter(std::span<float> out) : out_(out) {}
  void Put(double value) { out_[at_++] = static_cast<float>(value); }
  void Put(Vec3 v) {
    Put(v.x);
    Put(v.y);
    Put(v.z);
  }
  void Put(Quat q) {
    for (const double value : {q.w, q.x, q.y, q.z}) Put(value);
  }
  void Put(std::span<const double> values, double factor = 1) {
    for (const double value : values) Put(factor * value);
  }
  void Put(std::span<const float> values) {
    for (const float value : values) out_[at_++] = value;
  }
  size_t Written() const { return at_; }

 private:
  std::span<float> out_;
  size_t at_ = 0;
};

}  // namespace gripstream
