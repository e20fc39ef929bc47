// A table with one row of fixed width per environment, contiguous as [N, width]. Different rows may be written from
// different threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace gripstream {

template <class T>
class PerEnv {
 public:
  PerEnv() = default;
  PerEnv(int envs, size_t width) : width_(width), data_(static_cast<size_t>(envs) * width) {}

  std::span<T> operator[](int env) { return std::span(data_).subspan(static_cast<size_t>(env) * width_, width_); }
  std::span<const T> operator[](int env) const {
    return std::span(data_).subspan(static_cast<size_t>(env) * width_, width_);
  }
  // The row of a table of width 1.
  T& Of(int env) { return data_[static_cast<size_t>(env)]; }
  const T& Of(int env) const { return data_[static_cast<size_t>(env)]; }

  void Clear(int env) { std::ranges::fill((*this)[env], T{}); }
  const T* Data() const { return data_.data(); }
  size_t RowBytes() const { return width_ * sizeof(T); }

 private:
  size_t width_ = 0;
  std::vector<T> data_;
};

}  // namespace gripstream
