#include "policies/graph_onnx.h"

#include <protozero/pbf_writer.hpp>

#include "core/error.h"

namespace gripstream {
namespace {

using Writer = protozero::pbf_writer;

// Field numbers and enumerations of onnx.proto.
constexpr int kIrVersion = 8, kOpset = 17;
enum Model { kModelIrVersion = 1, kModelProducer = 2, kModelGraph = 7, kModelOpsets = 8 };
enum OpsetField { kOpsetDomain = 1, kOpsetVersion = 2 };
enum GraphField { kGraphNode = 1, kGraphName = 2, kGraphInitializer = 5, kGraphInput = 11, kGraphOutput = 12 };
enum NodeField { kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOp = 4, kNodeAttribute = 5 };
enum AttributeField { kAttributeName = 1, kAttributeInt = 3, kAttributeInts = 8, kAttributeType = 20 };
enum AttributeType { kTypeInt = 2, kTypeInts = 7 };
enum TensorField { kTensorDims = 1, kTensorType = 2, kTensorName = 8, kTensorRaw = 9 };
enum ElementType { kFloat = 1, kInt64 = 7 };
enum ValueField { kValueName = 1, kValueType = 2, kValueDoc = 3 };
enum TypeField {
  kTypeTensor = 1,
  kTensorTypeElement = 1,
  kTensorTypeShape = 2,
  kShapeDim = 1,
  kDimValue = 1,
  kDimParam = 2
};

struct Attribute {
  std::string name;
  std::vector<int64_t> values;
  bool list;
};

// One GraphProto under construction. Nodes may need small constants of their own: shapes, limits.
class OnnxGraph {
 public:
  explicit OnnxGraph(const Graph& graph) : graph_(graph), writer_(bytes_) {}

  const std::string& Write() {
    for (const GraphNode& node : graph_.nodes) WriteNode(node);
    writer_.add_string(kGraphName, "policy");
    for (const NamedTensor& constant : graph_.constants) {
      const torch::Tensor& value = constant.value;
      GS_CHECK(value.scalar_type() == torch::kFloat32 && value.is_contiguous(), "a constant of another type");
      AddTensor(constant.name, kFloat, value.sizes().vec(), value.const_data_ptr(), value.nbytes());
    }
    for (const GraphValue& input : graph_.inputs) AddValue(kGraphInput, input);
    for (const GraphValue& output : graph_.outputs) AddValue(kGraphOutput, output);
    return bytes_;
  }

 private:
  void AddTensor(const std::string& name, ElementType type, const std::vector<int64_t>& dims, const void* data,
                 size_t bytes) {
    Writer tensor(writer_, kGraphInitializer);
    tensor.add_packed_int64(kTensorDims, dims.begin(), dims.end());
    tensor.add_int32(kTensorType, type);
    tensor.add_string(kTensorName, name);
    tensor.add_bytes(kTensorRaw, static_cast<const char*>(data), bytes);
  }
  std::string Scalar(const std::string& name, double value) {
    const auto number = static_cast<float>(value);
    AddTensor(name, kFloat, {}, &number, sizeof(number));
    return name;
  }
  std::string Wholes(const std::string& name, const std::vector<int64_t>& values) {
    AddTensor(name, kInt64, {static_cast<int64_t>(values.size())}, values.data(), values.size() * sizeof(int64_t));
    return name;
  }
  std::string Whole(const std::string& name, int64_t value) { return Wholes(name, {value}); }
  static std::vector<int64_t> Repeated(int64_t value, size_t times) { return std::vector<int64_t>(times, value); }
  // x (1 + erf(x / sqrt 2)) / 2: operator set 17 has no operator for it.
  void AddGelu(const std::string& x, const std::string& out) {
    Add("Mul", {x, Scalar(out + "_root", 0.70710678118654752)}, out + "_scaled");
    Add("Erf", {out + "_scaled"}, out + "_erf");
    Add("Add", {out + "_erf", Scalar(out + "_one", 1.0)}, out + "_shifted");
    Add("Mul", {x, out + "_shifted"}, out + "_product");
    Add("Mul", {out + "_product", Scalar(out + "_half", 0.5)}, out);
  }
  void AddValue(GraphField field, const GraphValue& value) {
    Writer info(writer_, field);
    info.add_string(kValueName, value.name);
    {
      Writer type(info, kValueType);
      Writer tensor(type, kTypeTensor);
      tensor.add_int32(kTensorTypeElement, kFloat);
      Writer shape(tensor, kTensorTypeShape);
      {
        Writer batch(shape, kShapeDim);
        batch.add_string(kDimParam, "N");
      }
      for (const int64_t size : value.shape) {
        Writer dim(shape, kShapeDim);
        dim.add_int64(kDimValue, size);
      }
    }
    info.add_string(kValueDoc, value.unit.empty() ? value.meaning : value.meaning + " [" + value.unit + "]");
  }
  void Add(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
           const std::vector<Attribute>& attributes = {}) {
    Writer node(writer_, kGraphNode);
    for (const std::string& input : inputs) node.add_string(kNodeInput, input);
    node.add_string(kNodeOutput, output);
    node.add_string(kNodeName, output);
    node.add_string(kNodeOp, op);
    for (const Attribute& attribute : attributes) {
      Writer writer(node, kNodeAttribute);
      writer.add_string(kAttributeName, attribute.name);
      if (attribute.list) {
        writer.add_packed_int64(kAttributeInts, attribute.values.begin(), attribute.values.end());
      } else {
        writer.add_int64(kAttributeInt, attribute.values.front());
      }
      writer.add_int32(kAttributeType, attribute.list ? kTypeInts : kTypeInt);
    }
  }
  void WriteNode(const GraphNode& node);
  static std::string ActivationName(const std::string& kind) {
    if (kind == "elu") return "Elu";
    if (kind == "relu") return "Relu";
    if (kind == "tanh") return "Tanh";
    GS_CHECK(kind == "sigmoid", "activation " + kind);
    return "Sigmoid";
  }

  const Graph& graph_;
  std::string bytes_;
  Writer writer_;
};

void OnnxGraph::WriteNode(const GraphNode& node) {
  const std::vector<std::string>& in = node.inputs;
  const std::string& out = node.output;
  const auto number = [&](size_t i) { return static_cast<int64_t>(node.numbers[i]); };
  switch (node.op) {
    case GraphOp::kLinear:
      return Add("Gemm", in, out, {{"transB", {1}, false}});
    case GraphOp::kConv2d:
      return Add("Conv", in, out, {{"strides", Repeated(number(0), 2), true}, {"pads", Repeated(number(1), 4), true}});
    case GraphOp::kMaxPool:
      return Add("MaxPool", in, out,
                 {{"kernel_shape", Repeated(number(0), 2), true},
                  {"strides", Repeated(number(1), 2), true},
                  {"pads", Repeated(number(2), 4), true}});
    case GraphOp::kMatMul:
      return Add("MatMul", in, out);
    case GraphOp::kSoftmax:
      return Add("Softmax", in, out, {{"axis", {-1}, false}});
    case GraphOp::kReshape: {
      std::vector<int64_t> shape = {-1};
      for (size_t i = 0; i < node.numbers.size(); ++i) shape.push_back(number(i));
      return Add("Reshape", {in[0], Wholes(out + "_shape", shape)}, out);
    }
    case GraphOp::kTranspose: {
      std::vector<int64_t> order;
      for (size_t i = 0; i < node.numbers.size(); ++i) order.push_back(number(i));
      return Add("Transpose", in, out, {{"perm", order, true}});
    }
    case GraphOp::kLayerNorm:
      return Add("LayerNormalization", in, out, {{"axis", {-graph_.Constant(in[1])->value.dim()}, false}});
    case GraphOp::kActivation:
      if (node.kind == "gelu") return AddGelu(in[0], out);
      return Add(ActivationName(node.kind), in, out);
    case GraphOp::kArithmetic:
      return Add(node.kind == "add" ? "Add" : node.kind == "sub" ? "Sub" : "Mul", in, out);
    case GraphOp::kClamp:
      return Add("Clip", {in[0], Scalar(out + "_least", node.numbers[0]), Scalar(out + "_most", node.numbers[1])}, out);
    case GraphOp::kPositiveOr:
      Add("Greater", {in[0], Scalar(out + "_zero", 0.0)}, out + "_positive");
      return Add("Where", {out + "_positive", in[0], Scalar(out + "_otherwise", node.numbers[0])}, out);
    case GraphOp::kConcat:
      return Add("Concat", in, out, {{"axis", {1}, false}});
    case GraphOp::kSlice:
      return Add("Slice",
                 {in[0], Whole(out + "_first", number(0)), Whole(out + "_end", number(0) + number(1)),
                  Whole(out + "_axis", 1)},
                 out);
    case GraphOp::kFlatten:
      return Add("Flatten", in, out, {{"axis", {1}, false}});
    case GraphOp::kMeanPixels:
      return Add("ReduceMean", in, out, {{"axes", {2, 3}, true}, {"keepdims", {0}, false}});
    case GraphOp::kAddChannel:
      return Add("Unsqueeze", {in[0], Whole(out + "_axis", 1)}, out);
    case GraphOp::kSame:
      return Add("Identity", in, out);
  }
}

}  // namespace

std::string OnnxModel(const Graph& graph, const std::string& producer) {
  std::string bytes;
  Writer model(bytes);
  model.add_int64(kModelIrVersion, kIrVersion);
  model.add_string(kModelProducer, producer);
  OnnxGraph onnx(graph);
  model.add_message(kModelGraph, onnx.Write());
  Writer opset(model, kModelOpsets);
  opset.add_string(kOpsetDomain, "");
  opset.add_int64(kOpsetVersion, kOpset);
  return bytes;
}

}  // namespace gripstream
