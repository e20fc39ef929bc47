#include "policies/graph_torchscript.h"

#include <torch/script.h>

#include <sstream>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {
namespace {

std::string Number(double x) {
  std::ostringstream text;
  text.precision(17);
  text << x;
  const std::string digits = text.str();
  return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
}

std::string Whole(double x) {
  return std::to_string(static_cast<int64_t>(x));
}

std::string Pair(double x) {
  return "[" + Whole(x) + ", " + Whole(x) + "]";
}

template <class Sizes>
std::string List(const Sizes& sizes) {
  std::string text;
  for (const auto size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(static_cast<int64_t>(size));
  return text;
}

std::string Expression(const Graph& graph, const GraphNode& node) {
  const auto x = [&](size_t i) { return graph.Constant(node.inputs[i]) ? "self." + node.inputs[i] : node.inputs[i]; };
  const auto number = [&](size_t i) { return Number(node.numbers[i]); };
  switch (node.op) {
    case GraphOp::kLinear:
      return "torch.linear(" + x(0) + ", " + x(1) + ", " + x(2) + ")";
    case GraphOp::kConv2d:
      return "torch.conv2d(" + x(0) + ", " + x(1) + ", " + x(2) + ", " + Pair(node.numbers[0]) + ", " +
             Pair(node.numbers[1]) + ")";
    case GraphOp::kMaxPool:
      return "torch.max_pool2d(" + x(0) + ", " + Pair(node.numbers[0]) + ", " + Pair(node.numbers[1]) + ", " +
             Pair(node.numbers[2]) + ")";
    case GraphOp::kMatMul:
      return "torch.matmul(" + x(0) + ", " + x(1) + ")";
    case GraphOp::kSoftmax:
      return "torch.softmax(" + x(0) + ", -1)";
    case GraphOp::kReshape:
      return "torch.reshape(" + x(0) + ", [-1, " + List(node.numbers) + "])";
    case GraphOp::kTranspose:
      return "torch.permute(" + x(0) + ", [" + List(node.numbers) + "])";
    case GraphOp::kLayerNorm:
      return "torch.layer_norm(" + x(0) + ", [" + List(graph.Constant(node.inputs[1])->value.sizes()) + "], " + x(1) +
             ", " + x(2) + ")";
    case GraphOp::kActivation:
      return "torch." + node.kind + "(" + x(0) + ")";
    case GraphOp::kArithmetic:
      return "torch." + node.kind + "(" + x(0) + ", " + x(1) + ")";
    case GraphOp::kClamp:
      return "torch.clamp(" + x(0) + ", " + number(0) + ", " + number(1) + ")";
    case GraphOp::kPositiveOr:
      return "torch.where(torch.gt(" + x(0) + ", 0), " + x(0) + ", torch.full_like(" + x(0) + ", " + number(0) + "))";
    case GraphOp::kConcat: {
      std::string values;
      for (size_t i = 0; i < node.inputs.size(); ++i) values += (i ? ", " : "") + x(i);
      return "torch.cat([" + values + "], 1)";
    }
    case GraphOp::kSlice:
      return "torch.narrow(" + x(0) + ", 1, " + Whole(node.numbers[0]) + ", " + Whole(node.numbers[1]) + ")";
    case GraphOp::kFlatten:
      return "torch.flatten(" + x(0) + ", 1)";
    case GraphOp::kMeanPixels:
      return "torch.mean(" + x(0) + ", [2, 3])";
    case GraphOp::kAddChannel:
      return "torch.unsqueeze(" + x(0) + ", 1)";
    case GraphOp::kSame:
      return x(0);
  }
  GS_CHECK(false, "unknown operation");
}

}  // namespace

std::string TorchScriptSource(const Graph& graph) {
  std::string source = "def forward(self";
  for (const GraphValue& input : graph.inputs) source += ", " + input.name;
  source += "):\n";
  for (const GraphNode& node : graph.nodes) source += "    " + node.output + " = " + Expression(graph, node) + "\n";
  source += "    return (";
  for (const GraphValue& output : graph.outputs) source += output.name + ", ";
  return source + ")\n";
}

void WriteTorchScript(const Graph& graph, const std::string& path) {
  torch::jit::Module module("GripstreamPolicy");
  for (const NamedTensor& constant : graph.constants) {
    module.register_parameter(constant.name, constant.value.clone(), false);
  }
  module.define(TorchScriptSource(graph));
  module.eval();
  std::ostringstream bytes;
  module.save(bytes);
  WriteFileAtomically(path, std::string_view(bytes.str()));
}

}  // namespace gripstream
