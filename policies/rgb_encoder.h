// From the colour images of one or two cameras to one vector of features, the same trunk for every camera.
//
//   concat     trunk -> (average) -> projection, per camera; side by side
//   attention  trunk -> 1x1 convolution, ReLU -> average pool to pool_height x pool_width: `tokens` tokens per camera,
//              one per channel, of pool_height x pool_width numbers each -> transformer over all cameras' tokens and
//              one more, which is read (paper facts 3.3). With two cameras a camera's tokens attend to the other's
//              only.
//
// Images are uint8 [R, cameras, H, W, 3] in the order of render.rgb.cameras, normalised with ImageNet's means and
// deviations. Parameters are a ParameterSet's; copies share them. Forward is const and differentiable.
#pragma once

#include <torch/types.h>

#include <string>
#include <variant>
#include <vector>

#include "policies/convolutions.h"
#include "policies/shapes.h"

namespace gripstream {

class RgbEncoder {
 public:
  RgbEncoder() = default;
  // Throws InputError (as policy.rgb.*) when the configuration does not fit itself or the images.
  RgbEncoder(const LayerBuilder& build, const PolicyConfig& config, const PolicyShapes& shapes);
  int64_t Features() const { return features_; }
  // A trained trunk's weights (ResNet18::Load).
  void LoadTrunk(const std::string& path) { std::get<ResNet18>(trunk_).Load(path); }
  // What Forward takes: [R, cameras, 3, H, W] float32 from uint8 [R, cameras, H, W, 3].
  static torch::Tensor Normalised(const torch::Tensor& images);
  torch::Tensor Forward(const torch::Tensor& images) const;  // [R, Features()]
  // From a value [N, cameras, H, W, 3] that holds 0 to 255.
  std::string AddTo(GraphBuilder& graph, const std::string& images) const;

 private:
  struct AttentionLayer {
    torch::Tensor norm_weight[2], norm_bias[2];              // before attention and before the MLP
    torch::Tensor query_key_value, out, out_bias, up, down;  // [3 W, W], [W, W], [W], [4 W, W], [W, 4 W]
  };
  void BuildAttention(const LayerBuilder& build, const RgbConfig& config);
  torch::Tensor Trunk(const torch::Tensor& x) const;
  torch::Tensor Attend(const torch::Tensor& tokens) const;
  std::string AddAttentionTo(GraphBuilder& graph, const std::string& tokens) const;
  int64_t Tokens() const { return 1 + cameras_ * tokens_; }

  int64_t cameras_ = 0, height_ = 0, width_ = 0, features_ = 0;
  bool average_ = false, attention_ = false;
  std::variant<Convolutions, ResNet18> trunk_;
  Mlp projection_;                         // concat: per camera
  torch::Tensor reduce_, reduce_bias_;     // attention: 1x1 convolution
  torch::Tensor pool_;                     // [h w, width], the average pool as a matrix
  torch::Tensor embed_, position_, mask_;  // [1, 1, width], [1, tokens, width], [tokens, tokens]
  std::vector<AttentionLayer> layers_;
  torch::Tensor last_norm_weight_, last_norm_bias_;
  Mlp read_out_;
  int64_t tokens_ = 0, token_width_ = 0, heads_ = 0;
};

}  // namespace gripstream
