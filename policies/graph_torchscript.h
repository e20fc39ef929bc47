// Writes a graph as TorchScript: loads with torch.jit.load in Python and torch::jit::load in C++, without gripstream.
// forward takes the graph's inputs in their order and returns a tuple of its outputs in theirs.
#pragma once

#include <string>

#include "policies/graph.h"

namespace gripstream {

// The body of the module's methods, as torch::jit::Module::define takes it.
std::string TorchScriptSource(const Graph& graph);
// Throws RunError when the file cannot be written. Replaces it in one step.
void WriteTorchScript(const Graph& graph, const std::string& path);

}  // namespace gripstream
