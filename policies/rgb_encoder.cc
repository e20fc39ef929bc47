#include "policies/rgb_encoder.h"

#include <cmath>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr double kMean[] = {0.485, 0.456, 0.406}, kDeviation[] = {0.229, 0.224, 0.225};  // ImageNet's
constexpr double kNever = -1e9;                                                          // added to a logit

torch::Tensor ChannelNumbers(const double* numbers, double times) {
  torch::Tensor out = at::empty({3}, torch::kFloat32);
  for (int i = 0; i < 3; ++i) out.data_ptr<float>()[i] = static_cast<float>(numbers[i] * times);
  return out;
}

// Averages over cells of an adaptive pool (start floor(i n / m), end ceil((i + 1) n / m)), as a matrix [n, m].
torch::Tensor PoolMatrix(int64_t from, int64_t to) {
  torch::Tensor matrix = at::zeros({from, to}, torch::kFloat32);
  for (int64_t i = 0; i < to; ++i) {
    const int64_t begin = i * from / to, end = ((i + 1) * from + to - 1) / to;
    matrix.select(1, i).narrow(0, begin, end - begin).fill_(1.0 / static_cast<double>(end - begin));
  }
  return matrix;
}

// Rows of pixels times rows of cells: [h w, ph pw].
torch::Tensor PoolMatrix(const MapShape& map, int64_t height, int64_t width) {
  return at::kron(PoolMatrix(map.height, height), PoolMatrix(map.width, width)).contiguous();
}

// 0 where token i may look at token j. The first token and everybody look at each other; a camera's tokens look at the
// other camera's, or, where there is only one, at their own.
torch::Tensor CrossMask(int64_t cameras, int64_t tokens) {
  const int64_t all = 1 + cameras * tokens;
  torch::Tensor mask = at::zeros({all, all}, torch::kFloat32);
  for (int64_t camera = 0; camera < cameras && cameras > 1; ++camera) {
    const int64_t begin = 1 + camera * tokens;
    mask.narrow(0, begin, tokens).narrow(1, begin, tokens).fill_(kNever);
  }
  return mask;
}

}  // namespace

RgbEncoder::RgbEncoder(const LayerBuilder& build, const PolicyConfig& config, const PolicyShapes& shapes)
    : cameras_(shapes.cameras),
      height_(shapes.rgb_height_px),
      width_(shapes.rgb_width_px),
      average_(config.encoder.pool == "average"),
      attention_(config.rgb.fusion == "attention") {
  if (cameras_ < 1 || cameras_ > 2) {
    throw InputError("configuration", "policy.name", config.name,
                     "a policy without colour images, or one or two cameras in render.rgb.cameras");
  }
  const MapShape image{3, height_, width_};
  MapShape map;
  if (config.rgb.trunk == "resnet18") {
    trunk_ = ResNet18(build, "encoder.trunk", image);
    map = std::get<ResNet18>(trunk_).Shape();
  } else {
    trunk_ = Convolutions(build, "encoder", config.encoder, image);
    map = std::get<Convolutions>(trunk_).Shape();
  }
  if (!attention_) {
    const int64_t seen = average_ ? map.channels : map.channels * map.height * map.width;
    projection_ = build.Hidden("encoder.features", seen, {config.encoder.features}, config.activation);
    features_ = cameras_ * config.encoder.features;
    return;
  }
  tokens_ = config.rgb.tokens;
  token_width_ = config.rgb.pool_height * config.rgb.pool_width;
  reduce_ = build.Weight("encoder.reduce.weight", {tokens_, map.channels, 1, 1}, kHiddenGain);
  reduce_bias_ = build.Constant("encoder.reduce.bias", {tokens_}, 0.0);
  pool_ = PoolMatrix(map, config.rgb.pool_height, config.rgb.pool_width);
  BuildAttention(build, config.rgb);
}

void RgbEncoder::BuildAttention(const LayerBuilder& build, const RgbConfig& config) {
  const int64_t w = token_width_;
  heads_ = config.heads;
  features_ = config.features;
  if (w % heads_ != 0) {
    throw InputError("configuration", "policy.rgb.heads", std::to_string(heads_),
                     "a divisor of pool_height x pool_width = " + std::to_string(w));
  }
  embed_ = build.Normal("encoder.attention.embed", {1, 1, w}, 0.02);
  position_ = build.Normal("encoder.attention.position", {1, cameras_ * tokens_, w}, 0.02);
  mask_ = CrossMask(cameras_, tokens_);
  for (int i = 0; i < config.layers; ++i) {
    const std::string name = "encoder.attention." + std::to_string(i);
    AttentionLayer layer;
    for (const int k : {0, 1}) {
      layer.norm_weight[k] = build.Constant(name + ".norm" + std::to_string(k) + ".weight", {w}, 1.0);
      layer.norm_bias[k] = build.Constant(name + ".norm" + std::to_string(k) + ".bias", {w}, 0.0);
    }
    layer.query_key_value = build.Weight(name + ".query_key_value.weight", {3 * w, w}, 1.0);
    layer.out = build.Weight(name + ".out.weight", {w, w}, 1.0);
    layer.out_bias = build.Constant(name + ".out.bias", {w}, 0.0);
    layer.up = build.Weight(name + ".up.weight", {4 * w, w}, 1.0);
    layer.down = build.Weight(name + ".down.weight", {w, 4 * w}, 1.0);
    layers_.push_back(layer);
  }
  last_norm_weight_ = build.Constant("encoder.attention.norm.weight", {w}, 1.0);
  last_norm_bias_ = build.Constant("encoder.attention.norm.bias", {w}, 0.0);
  read_out_ = build.Layers("encoder.read_out", w, {static_cast<int>(w)}, features_, 1.0, "gelu");
}

torch::Tensor RgbEncoder::Normalised(const torch::Tensor& images) {
  const torch::Tensor channels_last = images.to(torch::kFloat32);
  const torch::Tensor centred = (channels_last - ChannelNumbers(kMean, 255.0)) / ChannelNumbers(kDeviation, 255.0);
  return centred.permute({0, 1, 4, 2, 3}).contiguous();
}

torch::Tensor RgbEncoder::Trunk(const torch::Tensor& x) const {
  return std::visit([&](const auto& trunk) { return trunk.Forward(x); }, trunk_);
}

torch::Tensor RgbEncoder::Forward(const torch::Tensor& images) const {
  const int64_t rows = images.size(0);
  const torch::Tensor maps = Trunk(images.flatten(0, 1));  // [R cameras, C, h, w]
  if (!attention_) {
    const torch::Tensor features = projection_.Forward(average_ ? maps.mean({2, 3}) : maps.flatten(1));
    return features.view({rows, features_});
  }
  const torch::Tensor reduced = at::relu(at::conv2d(maps, reduce_, reduce_bias_)).flatten(2);
  const torch::Tensor tokens = at::matmul(reduced, pool_).reshape({rows, cameras_ * tokens_, token_width_});
  return Attend(at::cat({embed_.expand({rows, 1, token_width_}), tokens + position_}, 1));
}

// Pre-normalised blocks; the first token is read.
torch::Tensor RgbEncoder::Attend(const torch::Tensor& tokens) const {
  const int64_t rows = tokens.size(0), all = Tokens(), w = token_width_, depth = w / heads_;
  const auto heads = [&](const torch::Tensor& x) { return x.reshape({rows, all, heads_, depth}).transpose(1, 2); };
  torch::Tensor x = tokens;
  for (const AttentionLayer& layer : layers_) {
    const torch::Tensor seen = at::layer_norm(x, {w}, layer.norm_weight[0], layer.norm_bias[0]);
    const auto parts = at::linear(seen, layer.query_key_value).chunk(3, 2);
    const torch::Tensor logits =
        at::matmul(heads(parts[0]), heads(parts[1]).transpose(2, 3)) / std::sqrt(static_cast<double>(depth)) + mask_;
    const torch::Tensor mixed = at::matmul(at::softmax(logits, -1), heads(parts[2])).transpose(1, 2);
    x = x + at::linear(mixed.reshape({rows, all, w}), layer.out, layer.out_bias);
    const torch::Tensor again = at::layer_norm(x, {w}, layer.norm_weight[1], layer.norm_bias[1]);
    x = x + at::linear(at::gelu(at::linear(again, layer.up)), layer.down);
  }
  return read_out_.Forward(at::layer_norm(x.select(1, 0), {w}, last_norm_weight_, last_norm_bias_));
}

std::string RgbEncoder::AddTo(GraphBuilder& graph, const std::string& images) const {
  const std::string mean = graph.Constant(ChannelNumbers(kMean, 255.0));
  const std::string scale = graph.Constant(ChannelNumbers(kDeviation, 255.0).reciprocal());
  const std::string centred = graph.Multiply(graph.Subtract(images, mean), scale);
  const std::string each = graph.Transpose(graph.Reshape(centred, {height_, width_, 3}), {0, 3, 1, 2});
  const std::string map = std::visit([&](const auto& trunk) { return trunk.AddTo(graph, each); }, trunk_);
  if (!attention_) {
    const std::string features = projection_.AddTo(graph, average_ ? graph.MeanPixels(map) : graph.Flatten(map));
    return graph.Reshape(features, {features_});
  }
  const std::string reduced = graph.Activation("relu", graph.Conv2d(map, reduce_, reduce_bias_, 1, 0));
  const std::string pooled = graph.MatMul(graph.Reshape(reduced, {tokens_, pool_.size(0)}), graph.Constant(pool_));
  const std::string tokens = graph.Reshape(pooled, {cameras_ * tokens_, token_width_});
  return AddAttentionTo(graph, graph.Add(tokens, graph.Constant(position_)));
}

std::string RgbEncoder::AddAttentionTo(GraphBuilder& graph, const std::string& tokens) const {
  const int64_t all = Tokens(), w = token_width_, depth = w / heads_;
  const auto linear = [&](const std::string& x, const torch::Tensor& weight) {
    return graph.MatMul(x, graph.Constant(weight.detach().t().contiguous()));
  };
  const auto heads = [&](const std::string& x, const std::vector<int64_t>& order) {
    return graph.Transpose(graph.Reshape(x, {all, heads_, depth}), order);
  };
  // The embedding, once per row: a column of zeros plus the embedding itself.
  const std::string column = graph.Multiply(graph.Slice(tokens, 0, 1), graph.Constant(at::zeros({1})));
  std::string x = graph.Concat({graph.Add(column, graph.Constant(embed_)), tokens});
  for (const AttentionLayer& layer : layers_) {
    const std::string seen = graph.LayerNorm(x, layer.norm_weight[0], layer.norm_bias[0]);
    const auto part = layer.query_key_value.chunk(3, 0);
    const std::string query = heads(linear(seen, part[0]), {0, 2, 1, 3});
    const std::string key = heads(linear(seen, part[1]), {0, 2, 3, 1});
    const std::string value = heads(linear(seen, part[2]), {0, 2, 1, 3});
    const std::string scale = graph.Constant(at::full({1}, 1.0 / std::sqrt(static_cast<double>(depth))));
    const std::string logits = graph.Add(graph.Multiply(graph.MatMul(query, key), scale), graph.Constant(mask_));
    const std::string mixed = graph.Transpose(graph.MatMul(graph.Softmax(logits), value), {0, 2, 1, 3});
    const std::string out = linear(graph.Reshape(mixed, {all, w}), layer.out);
    x = graph.Add(x, graph.Add(out, graph.Constant(layer.out_bias)));
    const std::string again = graph.LayerNorm(x, layer.norm_weight[1], layer.norm_bias[1]);
    x = graph.Add(x, linear(graph.Activation("gelu", linear(again, layer.up)), layer.down));
  }
  const std::string first = graph.Reshape(graph.Slice(x, 0, 1), {w});
  return read_out_.AddTo(graph, graph.LayerNorm(first, last_norm_weight_, last_norm_bias_));
}

}  // namespace gripstream
