// The LibTorch headers that every file which touches tensors needs, compiled once. Only CMake names this file.
#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>
