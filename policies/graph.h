// What a policy computes, as a list of operations that other engines can run: the common source of the ONNX and the
// TorchScript export.
//
// Every value has the batch as its first dimension, [N, ...] float32. Plain data and pure functions; tensors are shared
// with the policy that the graph was made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policies/parameters.h"

namespace gripstream {

enum class GraphOp {
  kLinear,      // x, weight, bias
  kConv2d,      // x, weight, bias; numbers: stride, padding
  kMaxPool,     // x; numbers: kernel, stride, padding
  kMatMul,      // a, b, over the last two dimensions
  kSoftmax,     // over the last dimension
  kLayerNorm,   // x, weight, bias, over the dimensions that the weight has
  kActivation,  // x; kind: elu, relu, tanh, sigmoid, gelu
  kArithmetic,  // a, b, broadcast; kind: add, sub, mul
  kClamp,       // x; numbers: least, most
  kPositiveOr,  // x where it is above 0, elsewhere a number; numbers: that one
  kConcat,      // any number of values, along dimension 1
  kSlice,       // x; numbers: first, count along dimension 1
  kFlatten,     // all but the batch
  kReshape,     // numbers: the dimensions after the first, which follows from them
  kTranspose,   // numbers: the order of all dimensions
  kMeanPixels,  // [N, C, H, W] -> [N, C]
  kAddChannel,  // [N, H, W] -> [N, 1, H, W]
  kSame,        // x under another name
};

struct GraphNode {
  GraphOp op;
  std::string output;
  std::vector<std::string> inputs;  // names of earlier outputs, of graph inputs or of constants
  std::vector<double> numbers;
  std::string kind;
};

struct GraphValue {
  std::string name;            // a valid identifier
  std::vector<int64_t> shape;  // per environment
  std::string unit;
  std::string meaning;
};

struct Graph {
  std::vector<GraphValue> inputs, outputs;
  std::vector<NamedTensor> constants;
  std::vector<GraphNode> nodes;

  const NamedTensor* Constant(const std::string& name) const;  // null: none of that name
};

// Appends operations; each returns the name of its result.
class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(graph) {}

  std::string Input(const GraphValue& value);
  void Output(const std::string& value, const GraphValue& as);
  std::string Constant(const torch::Tensor& value);

  std::string Linear(const std::string& x, const torch::Tensor& weight, const torch::Tensor& bias);
  std::string Conv2d(const std::string& x, const torch::Tensor& weight, const torch::Tensor& bias, int64_t stride,
                     int64_t padding);
  std::string LayerNorm(const std::string& x, const torch::Tensor& weight, const torch::Tensor& bias);
  std::string MaxPool(const std::string& x, int64_t kernel, int64_t stride, int64_t padding);
  std::string MatMul(const std::string& a, const std::string& b);
  std::string Softmax(const std::string& x);
  std::string Reshape(const std::string& x, const std::vector<int64_t>& shape);
  std::string Transpose(const std::string& x, const std::vector<int64_t>& order);
  std::string Activation(const std::string& kind, const std::string& x);
  std::string Add(const std::string& a, const std::string& b);
  std::string Subtract(const std::string& a, const std::string& b);
  std::string Multiply(const std::string& a, const std::string& b);
  std::string Clamp(const std::string& x, double least, double most);
  std::string PositiveOr(const std::string& x, double otherwise);
  std::string Concat(const std::vector<std::string>& values);  // of one value: itself
  std::string Slice(const std::string& x, int64_t first, int64_t count);
  std::string Flatten(const std::string& x);
  std::string MeanPixels(const std::string& x);
  std::string AddChannel(const std::string& x);

 private:
  std::string Append(GraphOp op, std::vector<std::string> inputs, std::vector<double> numbers = {},
                     std::string kind = {});
  Graph& graph_;
};

}  // namespace gripstream
