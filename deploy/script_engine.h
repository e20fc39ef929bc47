// An exported policy's TorchScript file on this machine's CPU.
//
// One thread at a time; uses as many threads as it is told, for the whole process. Throws InputError when the file is
// not the one that the manifest names, RunError when it fails.
#pragma once

#include <memory>
#include <string>

#include "deploy/manifest.h"
#include "deploy/policy_engine.h"

namespace gripstream {

// Loads FOLDER/policy.pt and runs it a few times, so that the first decision is no slower than the others.
std::unique_ptr<PolicyEngine> LoadScript(const std::string& folder, const Manifest& manifest, int threads);

}  // namespace gripstream
