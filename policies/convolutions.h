// Image trunks: from images to maps of features, [B, C, H, W] -> [B, Channels(), Height(), Width()].
//
// Parameters are a ParameterSet's; copies share them. Forward is const and differentiable.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "policies/config.h"
#include "policies/graph.h"
#include "policies/layers.h"

namespace gripstream {

// [channels, height, width] of an image or a map of features.
struct MapShape {
  int64_t channels = 0, height = 0, width = 0;
};

// Convolutions as policy.encoder describes them.
class Convolutions {
 public:
  Convolutions() = default;
  // Throws InputError (as policy.encoder.*) when they do not fit each other or the image.
  Convolutions(const LayerBuilder& build, const std::string& name, const EncoderConfig& config, const MapShape& image);
  const MapShape& Shape() const { return shape_; }
  torch::Tensor Forward(torch::Tensor x) const;
  std::string AddTo(GraphBuilder& graph, std::string x) const;

 private:
  struct Layer {
    torch::Tensor weight, bias, norm_weight, norm_bias;  // the last two [C, H, W]; undefined without normalisation
    int64_t stride;
  };
  std::vector<Layer> layers_;
  MapShape shape_;
};

// ResNet-18 (He et al. 2016) without its last two layers. Its batch normalisations are what they are in a trained
// network that is used: a scale and an offset per channel. Each block's last scale begins at 0, so that an untrained
// network is as shallow as its shortcuts (Goyal et al. 2017); weights of a trained one replace all of it.
class ResNet18 {
 public:
  ResNet18() = default;
  ResNet18(const LayerBuilder& build, const std::string& name, const MapShape& image);
  const MapShape& Shape() const { return shape_; }
  // Takes over a trained network's weights from a safetensors file with torchvision's names (conv1.weight, bn1.*,
  // layer1.0.conv1.weight, ...); statistics of batch normalisations become scales and offsets. Throws InputError naming
  // the file and the tensor that is missing or of another shape.
  void Load(const std::string& path);
  torch::Tensor Forward(torch::Tensor x) const;
  std::string AddTo(GraphBuilder& graph, std::string x) const;

 private:
  struct Convolution {
    std::string trained_weight, trained_norm;  // names in torchvision's file
    torch::Tensor weight, scale, offset;       // [O, I, k, k], [O], [O]
    int64_t stride = 1, padding = 0;
    torch::Tensor Forward(const torch::Tensor& x) const;
    std::string AddTo(GraphBuilder& graph, const std::string& x) const;
  };
  struct Block {
    Convolution first, second, shortcut;  // the last without a weight: the input itself
  };
  std::vector<const Convolution*> All() const;

  Convolution stem_;
  std::vector<Block> blocks_;
  MapShape shape_;
};

}  // namespace gripstream
