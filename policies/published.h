// A policy as bytes for another process that has the same networks: what a learner publishes to simulators that act.
//
//   PublishedHeader (hash of all names, types and shapes; payload bytes), then every tensor of Policy::State() in order
//
// Both sides make their policy from the same configuration; the hash and the size prove it. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "policies/inference.h"

namespace gripstream {

std::vector<std::byte> PackPolicy(const Policy& policy);
// Throws RunError, and then leaves `policy` as it was, when the bytes are not of a policy with the same tensors.
void UnpackPolicy(std::span<const std::byte> bytes, Policy& policy);

}  // namespace gripstream
