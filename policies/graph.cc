#include "policies/graph.h"

#include <algorithm>
#include <utility>

namespace gripstream {
namespace {

std::string Numbered(std::string letter, size_t number) {
  letter += std::to_string(number);
  return letter;
}

std::vector<double> Numbers(const std::vector<int64_t>& whole) {
  return {whole.begin(), whole.end()};
}

}  // namespace

const NamedTensor* Graph::Constant(const std::string& name) const {
  const auto found = std::find_if(constants.begin(), constants.end(), [&](const auto& c) { return c.name == name; });
  return found == constants.end() ? nullptr : &*found;
}

std::string GraphBuilder::Append(GraphOp op, std::vector<std::string> inputs, std::vector<double> numbers,
                                 std::string kind) {
  const std::string name = Numbered("v", graph_.nodes.size());
  graph_.nodes.push_back({op, name, std::move(inputs), std::move(numbers), std::move(kind)});
  return name;
}

std::string GraphBuilder::Input(const GraphValue& value) {
  graph_.inputs.push_back(value);
  return value.name;
}

void GraphBuilder::Output(const std::string& value, const GraphValue& as) {
  graph_.nodes.push_back({GraphOp::kSame, as.name, {value}, {}, ""});
  graph_.outputs.push_back(as);
}

std::string GraphBuilder::Constant(const torch::Tensor& value) {
  const std::string name = Numbered("c", graph_.constants.size());
  graph_.constants.push_back({name, value.detach().contiguous()});
  return name;
}

std::string GraphBuilder::Linear(const std::string& x, const torch::Tensor& weight, const torch::Tensor& bias) {
  return Append(GraphOp::kLinear, {x, Constant(weight), Constant(bias)});
}

std::string GraphBuilder::Conv2d(const std::string& x, const torch::Tensor& weight, const torch::Tensor& bias,
                                 int64_t stride, int64_t padding) {
  return Append(GraphOp::kConv2d, {x, Constant(weight), Constant(bias)}, Numbers({stride, padding}));
}

std::string GraphBuilder::MaxPool(const std::string& x, int64_t kernel, int64_t stride, int64_t padding) {
  return Append(GraphOp::kMaxPool, {x}, Numbers({kernel, stride, padding}));
}

std::string GraphBuilder::MatMul(const std::string& a, const std::string& b) {
  return Append(GraphOp::kMatMul, {a, b});
}

std::string GraphBuilder::Softmax(const std::string& x) {
  return Append(GraphOp::kSoftmax, {x});
}

std::string GraphBuilder::Reshape(const std::string& x, const std::vector<int64_t>& shape) {
  return Append(GraphOp::kReshape, {x}, Numbers(shape));
}

std::string GraphBuilder::Transpose(const std::string& x, const std::vector<int64_t>& order) {
  return Append(GraphOp::kTranspose, {x}, Numbers(order));
}

std::string GraphBuilder::LayerNorm(const std::string& x, const torch::Tensor& weight, const torch::Tensor& bias) {
  return Append(GraphOp::kLayerNorm, {x, Constant(weight), Constant(bias)});
}

std::string GraphBuilder::Activation(const std::string& kind, const std::string& x) {
  return Append(GraphOp::kActivation, {x}, {}, kind);
}

std::string GraphBuilder::Add(const std::string& a, const std::string& b) {
  return Append(GraphOp::kArithmetic, {a, b}, {}, "add");
}

std::string GraphBuilder::Subtract(const std::string& a, const std::string& b) {
  return Append(GraphOp::kArithmetic, {a, b}, {}, "sub");
}

std::string GraphBuilder::Multiply(const std::string& a, const std::string& b) {
  return Append(GraphOp::kArithmetic, {a, b}, {}, "mul");
}

std::string GraphBuilder::Clamp(const std::string& x, double least, double most) {
  return Append(GraphOp::kClamp, {x}, {least, most});
}

std::string GraphBuilder::PositiveOr(const std::string& x, double otherwise) {
  return Append(GraphOp::kPositiveOr, {x}, {otherwise});
}

std::string GraphBuilder::Concat(const std::vector<std::string>& values) {
  return values.size() == 1 ? values.front() : Append(GraphOp::kConcat, values);
}

std::string GraphBuilder::Slice(const std::string& x, int64_t first, int64_t count) {
  return Append(GraphOp::kSlice, {x}, Numbers({first, count}));
}

std::string GraphBuilder::Flatten(const std::string& x) {
  return Append(GraphOp::kFlatten, {x});
}

std::string GraphBuilder::MeanPixels(const std::string& x) {
  return Append(GraphOp::kMeanPixels, {x});
}

std::string GraphBuilder::AddChannel(const std::string& x) {
  return Append(GraphOp::kAddChannel, {x});
}

}  // namespace gripstream
