// Writes a graph as ONNX, operator set 17, with the batch as a free dimension "N".
#pragma once

#include <string>

#include "policies/graph.h"

namespace gripstream {

// The file's bytes (a serialised ModelProto). `producer` names who made it, as in "gripstream 0.1".
std::string OnnxModel(const Graph& graph, const std::string& producer);

}  // namespace gripstream
