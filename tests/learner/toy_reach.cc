#include "tests/learner/toy_reach.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gripstream {
namespace {

// Camera at (0, -0.95, 0.55) looking along +y and down by 25 degrees; x to the right; 0.1 mm depth units.
constexpr float kCameraY = -0.95f, kCameraZ = 0.55f, kFocal_px = 60.0f, kSin = 0.4226f, kCos = 0.9063f;
constexpr float kUnit_m = 1e-4f, kPalmRadius_m = 0.045f, kSpeed_m = 0.12f, kSuccess_m = 0.06f;
constexpr ToyVector kLow = {-0.21f, -0.26f, 0.0f}, kHigh = {0.21f, 0.26f, 0.1f};

float Distance(const ToyVector& a, const ToyVector& b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// World to camera: x right, y down, z forward.
ToyVector ToCamera(const ToyVector& p) {
  const float y = p.y - kCameraY, z = p.z - kCameraZ;
  return {p.x, -kSin * y - kCos * z, kCos * y - kSin * z};
}

float Target(float action, float low, float high) {
  return low + 0.5f * (std::clamp(action, -1.0f, 1.0f) + 1.0f) * (high - low);
}

template <class T>
T* Block(RolloutStore& store, const char* name, int t, int env) {
  return reinterpret_cast<T*>(store.Slice(name, t, env, 1).data());
}

}  // namespace

ToyReach::ToyReach(uint64_t seed, int envs, int first_env)
    : seed_(seed), first_env_(static_cast<uint32_t>(first_env)), envs_(static_cast<size_t>(envs)) {
  background_.assign(size_t{kHeight} * kWidth, 0);
  for (int v = 0; v < kHeight; ++v) {
    const float down = (static_cast<float>(v) + 0.5f - kHeight / 2) / kFocal_px;
    const float slope = -kCos * down - kSin;  // world z per unit of depth
    const float depth = slope < 0 ? kCameraZ / -slope : 0.0f;
    const uint16_t stored = depth < 6.0f ? static_cast<uint16_t>(depth / kUnit_m) : uint16_t{0};
    std::fill_n(background_.begin() + v * kWidth, kWidth, stored);
  }
}

std::vector<TensorSpec> ToyReach::Specs() {
  return {{"obs.proprio", DType::kFloat32, {kProprio}, "", 1.0},
          {"obs.depth", DType::kUint16, {kHeight, kWidth}, "m", kUnit_m},
          {"state", DType::kFloat32, {kState}, "", 1.0},
          {"final_state", DType::kFloat32, {kState}, "", 1.0},
          {"aux.object_position", DType::kFloat32, {3}, "m", 1.0},
          {"reward", DType::kFloat32, {}, "", 1.0},
          {"done", DType::kUint8, {}, "", 1.0}};
}

void ToyReach::Begin(uint32_t id, Env& env) const {
  Rng rng = RandomStream(seed_, "toy").At(id, env.episode);
  env.radius = rng.Uniform(0.02f, 0.04f);
  env.ball = {rng.Uniform(-0.15f, 0.15f), rng.Uniform(-0.2f, 0.2f), env.radius};
  env.palm = {rng.Uniform(-0.05f, 0.05f), rng.Uniform(-0.05f, 0.05f), rng.Uniform(0.35f, 0.45f)};
  env.last_action = {};
  env.step = 0;
}

void ToyReach::Reset(uint32_t first_episode) {
  for (size_t i = 0; i < envs_.size(); ++i) {
    envs_[i] = {};
    envs_[i].episode = first_episode;
    Begin(first_env_ + static_cast<uint32_t>(i), envs_[i]);
  }
}

void ToyReach::Step(const float* actions) {
  for (size_t i = 0; i < envs_.size(); ++i) {
    Env& env = envs_[i];
    const float* a = actions + i * kAction;
    env.last_action = {std::clamp(a[0], -1.0f, 1.0f), std::clamp(a[1], -1.0f, 1.0f), std::clamp(a[2], -1.0f, 1.0f)};
    const ToyVector target = {Target(a[0], kLow.x, kHigh.x), Target(a[1], kLow.y, kHigh.y),
                              Target(a[2], kLow.z, kHigh.z)};
    const float distance = Distance(target, env.palm), share = std::min(1.0f, kSpeed_m / std::max(distance, 1e-6f));
    env.palm = {env.palm.x + share * (target.x - env.palm.x), env.palm.y + share * (target.y - env.palm.y),
                env.palm.z + share * (target.z - env.palm.z)};
    const float gap = Distance(env.palm, env.ball);
    env.reward = 0.5f * std::exp(-10.0f * gap) + 0.5f * std::exp(-10.0f * Distance(target, env.ball)) +
                 (gap < kSuccess_m ? 0.5f : 0.0f);
    env.done = 0;
    if (++env.step < kEpisodeSteps) continue;
    env.done = 2;
    WriteState(env, env.final_state);
    ++outcome_.episodes;
    outcome_.successes += gap < kSuccess_m;
    ++env.episode;
    Begin(first_env_ + static_cast<uint32_t>(i), env);
  }
}

void ToyReach::WriteState(const Env& env, float* out) const {
  const float time = static_cast<float>(env.step) / kEpisodeSteps;
  const float values[kState] = {env.palm.x,
                                env.palm.y,
                                env.palm.z,
                                env.ball.x,
                                env.ball.y,
                                env.ball.z,
                                env.ball.x - env.palm.x,
                                env.ball.y - env.palm.y,
                                env.ball.z - env.palm.z,
                                time};
  std::copy(values, values + kState, out);
}

void ToyReach::Write(RolloutStore& store, int t) const {
  for (int i = 0; i < Envs(); ++i) {
    const Env& env = envs_[static_cast<size_t>(i)];
    const float time = static_cast<float>(env.step) / kEpisodeSteps;
    const float proprio[kProprio] = {env.palm.x,        env.palm.y,        env.palm.z, env.last_action.x,
                                     env.last_action.y, env.last_action.z, time};
    std::copy(proprio, proprio + kProprio, Block<float>(store, "obs.proprio", t, i));
    WriteState(env, Block<float>(store, "state", t, i));
    std::copy(env.final_state, env.final_state + kState, Block<float>(store, "final_state", t, i));
    std::memcpy(Block<float>(store, "aux.object_position", t, i), &env.ball, sizeof(env.ball));
    *Block<float>(store, "reward", t, i) = env.reward;
    *Block<uint8_t>(store, "done", t, i) = env.done;
    Render(env, Block<uint16_t>(store, "obs.depth", t, i));
  }
}

void ToyReach::Render(const Env& env, uint16_t* image) const {
  std::copy(background_.begin(), background_.end(), image);
  Draw(env.ball, env.radius, image);
  Draw(env.palm, kPalmRadius_m, image);
}

void ToyReach::Draw(const ToyVector& centre, float radius, uint16_t* image) const {
  const ToyVector c = ToCamera(centre);
  const float reach = kFocal_px * radius / c.z * 1.2f + 1.0f;
  const float u = kFocal_px * c.x / c.z + kWidth / 2, v = kFocal_px * c.y / c.z + kHeight / 2;
  const int left = std::max(0, static_cast<int>(u - reach)), right = std::min(kWidth - 1, static_cast<int>(u + reach));
  const int top = std::max(0, static_cast<int>(v - reach)), bottom = std::min(kHeight - 1, static_cast<int>(v + reach));
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) {
      const float dx = (static_cast<float>(column) + 0.5f - kWidth / 2) / kFocal_px;
      const float dy = (static_cast<float>(row) + 0.5f - kHeight / 2) / kFocal_px;
      const float a = dx * dx + dy * dy + 1, b = dx * c.x + dy * c.y + c.z;
      const float disc = b * b - a * (c.x * c.x + c.y * c.y + c.z * c.z - radius * radius);
      if (disc < 0) continue;
      const uint16_t depth = static_cast<uint16_t>((b - std::sqrt(disc)) / a / kUnit_m);
      uint16_t& pixel = image[row * kWidth + column];
      if (pixel == 0 || depth < pixel) pixel = depth;
    }
  }
}

ToyReach::Outcome ToyReach::TakeOutcome() {
  const Outcome outcome = outcome_;
  outcome_ = {};
  return outcome;
}

}  // namespace gripstream
