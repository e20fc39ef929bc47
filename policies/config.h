// Configuration of the networks. Plain values, no LibTorch: every binary parses the whole run file.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace gripstream {

// The networks there are. A name added here needs its case in network.cc.
//   depth_cnn  actor: depth image through convolutions + proprioception; critic: privileged state
//   rgb        actor: colour images of one or two cameras + proprioception; critic: privileged state
//   state_mlp  no image: the critic on privileged state, the actor on that or, as policy.actor_input says, on
//              proprioception, which a task may fill with what a teacher knows
inline const std::vector<std::string>& PolicyNames() {
  static const std::vector<std::string> names = {"depth_cnn", "rgb", "state_mlp"};
  return names;
}

// Convolutions without padding, each followed by ReLU and, where wanted, layer normalisation over channels and pixels;
// flattened (where things are in the image survives) or averaged over the pixels, and projected to `features`.
struct EncoderConfig {
  std::vector<int> channels = {16, 32};
  std::vector<int> kernels = {8, 3};
  std::vector<int> strides = {4, 2};
  std::string norm = "none";
  std::string pool = "none";
  int features = 128;

  void Fields(FieldVisitor& v) {
    v.Ints("channels", channels, 0, {.doc = "filters of each convolution"}, {1, 1024});
    v.Ints("kernels", kernels, 0, {.doc = "kernel size of each convolution", .unit = "px"}, {1, 15});
    v.Ints("strides", strides, 0, {.doc = "stride of each convolution", .unit = "px"}, {1, 8});
    v.Choice("norm", norm, {"none", "layer"},
             {.doc = "normalisation after each convolution, over channels and pixels"});
    v.Choice("pool", pool, {"none", "average"},
             {.doc = "none: the projection sees every pixel of the last convolution; average: each channel's mean"});
    v.Int("features", features, {.doc = "length of the image's feature vector"}, {1, 4096});
  }
};

// From colour images to features; the same trunk for both cameras (paper facts 3.3).
struct RgbConfig {
  std::string trunk = "cnn", weights{}, fusion = "concat";
  int tokens = 128, pool_height = 8, pool_width = 16, heads = 4, layers = 2, features = 64;

  void Fields(FieldVisitor& v) {
    v.Choice("trunk", trunk, {"cnn", "resnet18"}, {.doc = "cnn: the convolutions of policy.encoder"});
    v.String("weights", weights,
             {.doc = "resnet18: a new run begins with a trained trunk, a safetensors file by torchvision's names"});
    v.Choice(
        "fusion", fusion, {"concat", "attention"},
        {.doc = "concat: each image's features side by side; attention: tokens of each image attend to the other's"});
    v.Int("tokens", tokens, {.doc = "attention: tokens per image"}, {1, 4096});
    v.Int("pool_height", pool_height, {.doc = "attention: a token is a map of this height"}, {1, 256});
    v.Int("pool_width", pool_width, {.doc = "attention: and this width"}, {1, 256});
    v.Int("heads", heads, {.doc = "attention: divides pool_height x pool_width"}, {1, 64});
    v.Int("layers", layers, {.doc = "attention: blocks"}, {1, 64});
    v.Int("features", features, {.doc = "attention: length of the features"}, {1, 4096});
  }
};

// How raw depth becomes network input: clamped to [near, far] (nothing hit counts as far), then scaled.
struct ImageConfig {
  double near_m = 0.3;
  double far_m = 2.0;
  std::string normalise = "per_pixel";
  double std_floor_m = 0.02;

  void Fields(FieldVisitor& v) {
    v.Float("near_m", near_m, {.doc = "depths below are clamped to this", .unit = "m"}, {0.0, 100.0});
    v.Float("far_m", far_m, {.doc = "depths above, and no hit, are clamped to this", .unit = "m"}, {0.0, 100.0});
    v.Choice("normalise", normalise, {"per_pixel", "range"},
             {.doc = "per_pixel: running mean and deviation of each pixel (a fixed camera's background becomes 0); "
                     "range: [near, far] to [-1, 1]"});
    v.Float("std_floor_m", std_floor_m, {.doc = "least deviation a pixel is divided by", .unit = "m"}, {1e-4, 10.0});
  }
};

struct AuxConfig {
  bool enabled = true;
  std::vector<int> hidden = {64};
  bool feed_actor = true;

  void Fields(FieldVisitor& v) {
    v.Bool("enabled", enabled, {.doc = "predict the object's position from the image, as an additional training loss"});
    v.Ints("hidden", hidden, 0, {.doc = "hidden layers of the head"}, {1, 8192});
    v.Bool("feed_actor", feed_actor, {.doc = "give the prediction to the actor as an input"});
  }
};

// One recurrent layer beside an MLP (paper facts 3.1: the actor's before it, the critic's after it).
struct RecurrentConfig {
  std::string kind = "none";
  int units = 512;
  std::string place = "before_mlp";
  bool layer_norm = true;
  bool concat_input = true;

  bool Exists() const { return kind != "none"; }
  void Fields(FieldVisitor& v) {
    v.Choice("kind", kind, {"none", "lstm", "gru"}, {.doc = "recurrent layer; none: the network has no memory"});
    v.Int("units", units, {.doc = "size of the hidden state"}, {1, 8192});
    v.Choice("place", place, {"before_mlp", "after_mlp"}, {.doc = "whether it reads the inputs or the hidden layers"});
    v.Bool("layer_norm", layer_norm, {.doc = "normalise what it puts out"});
    v.Bool("concat_input", concat_input,
           {.doc = "before_mlp: the MLP sees the inputs, too; after_mlp: the layer sees the inputs, too"});
  }
};

struct PolicyConfig {
  std::string name = "depth_cnn", actor_input = "state";
  EncoderConfig encoder{};
  RgbConfig rgb{};
  ImageConfig image{};
  AuxConfig aux{};
  std::vector<int> actor_hidden = {128, 64};
  std::vector<int> critic_hidden = {128, 128};
  RecurrentConfig actor_rnn{};
  RecurrentConfig critic_rnn{.place = "after_mlp"};
  std::string activation = "elu";
  std::string std = "parameter";
  double init_std = 0.3;
  double observation_clip = 5.0;
  double least_deviation = 1e-3;
  bool normalise_values = false;
  int inference_chunk = 128;

  bool ActorReadsState() const { return name == "state_mlp" && actor_input == "state"; }
  bool IsRecurrent() const { return actor_rnn.Exists() || critic_rnn.Exists(); }
  void Fields(FieldVisitor& v) {
    v.Choice("name", name, PolicyNames(), {.doc = "which networks"});
    v.Choice(
        "actor_input", actor_input, {"state", "proprio"},
        {.doc = "what the actor of state_mlp reads: tensor state, or obs.proprio (with task.grasp.proprio teacher: "
                "what a teacher knows, noise included); others read obs.proprio beside their images"});
    v.Group("encoder", encoder, "image encoder");
    v.Group("rgb", rgb, "colour image encoder, of policy rgb");
    v.Group("image", image, "from raw depth to network input");
    v.Group("aux", aux, "auxiliary object-position head");
    v.Ints("actor_hidden", actor_hidden, 0, {.doc = "hidden layers of the actor"}, {1, 8192});
    v.Ints("critic_hidden", critic_hidden, 0, {.doc = "hidden layers of the critic"}, {1, 8192});
    v.Group("actor_rnn", actor_rnn, "the actor's memory");
    v.Group("critic_rnn", critic_rnn, "the critic's memory");
    v.Choice("activation", activation, {"elu", "relu", "tanh"}, {.doc = "activation of the hidden layers"});
    v.Choice("std", std, {"parameter", "network"},
             {.doc = "the actions' standard deviation: the same everywhere, or a second output of the actor"});
    v.Float("init_std", init_std, {.doc = "standard deviation of the actions at the start"}, {1e-3, 10.0});
    v.Float("observation_clip", observation_clip, {.doc = "normalised observations are clipped to +- this"},
            {1.0, 1000.0});
    v.Float(
        "least_deviation", least_deviation,
        {.doc = "an observation's deviation counts as at least this, so that what has hardly moved yet is not blown "
                "up when it does"},
        {1e-6, 10.0});
    v.Bool("normalise_values", normalise_values,
           {.doc = "the critic learns returns in running deviations from their mean"});
    v.Int("inference_chunk", inference_chunk,
          {.doc = "environments per inference batch; fixed, so that grouping environments changes no bit"}, {1, 65536});
  }
};

}  // namespace gripstream
