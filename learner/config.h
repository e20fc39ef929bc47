// Configuration of PPO. Plain values, no LibTorch: every binary parses the whole run file.
#pragma once

#include <cmath>
#include <string>

#include "core/config.h"

namespace gripstream {

struct ScheduleConfig {
  std::string kind = "kl_adaptive";
  double target_kl = 0.013;
  double min_lr = 1e-5;
  double max_lr = 3e-3;

  void Fields(FieldVisitor& v) {
    v.Choice(
        "kind", kind, {"fixed", "linear", "kl_adaptive"},
        {.doc = "fixed; linear to 0 over train.iterations; kl_adaptive: x1.5 below half the target, /1.5 above twice"});
    v.Float("target_kl", target_kl, {.doc = "divergence per epoch that kl_adaptive aims at", .unit = "nat"},
            {1e-6, 10});
    v.Float("min_lr", min_lr, {.doc = "least learning rate of kl_adaptive"}, {0, 1});
    v.Float("max_lr", max_lr, {.doc = "largest learning rate of kl_adaptive"}, {0, 1});
  }
};

// Whether a gradient is applied at once, or one minibatch later so that its sum over the learners may take that long.
enum class GradientDelay {
  kNone,
  kPlain,      // as it is
  kPredicted,  // taken where the parameters are expected to be by then
};

struct PpoConfig {
  int horizon = 16;
  int epochs = 4;
  int sequence = 16;
  int minibatch = 1024;
  int micro_batch = 512;
  double gamma = 0.99;
  double lambda = 0.95;
  double clip = 0.2;
  bool clip_value = true;
  bool normalise_advantages = true;
  bool bootstrap_timeouts = true;
  double value_coef = 1.0;
  double entropy_coef = 0.001;
  double bounds_coef = 0.005;
  double aux_coef = 1.0;
  double max_grad_norm = 1.0;
  double lr = 1e-3;
  std::string lr_scaling = "none";
  int lr_base_minibatch = 1024;
  ScheduleConfig schedule{};
  std::string off_policy = "ratio";
  double rho_clip = 1.0;
  double c_clip = 1.0;
  int threads = 2;

  void Fields(FieldVisitor& v) {
    v.Int("horizon", horizon, {.doc = "steps of every environment per iteration"}, {1, 4096});
    v.Int("epochs", epochs, {.doc = "passes over an iteration's samples"}, {1, 100});
    v.Int("sequence", sequence,
          {.doc = "a policy with memory: steps that gradients go back through; divides horizon and minibatch"},
          {1, 4096});
    v.Int("minibatch", minibatch, {.doc = "samples per gradient step; divides horizon x environments"}, {1, 1 << 24});
    v.Int("micro_batch", micro_batch,
          {.doc = "samples per forward and backward pass; a minibatch's gradients are summed over as many as it takes"},
          {1, 1 << 24});
    v.Float("gamma", gamma, {.doc = "discount per step"}, {0, 1});
    v.Float("lambda", lambda, {.doc = "trace decay of the advantage estimate"}, {0, 1});
    v.Float("clip", clip, {.doc = "range of the probability ratio around 1"}, {1e-4, 10});
    v.Bool("clip_value", clip_value, {.doc = "clip the change of the value by the same range"});
    v.Bool("normalise_advantages", normalise_advantages, {.doc = "to mean 0 and deviation 1 over the iteration"});
    v.Bool("bootstrap_timeouts", bootstrap_timeouts, {.doc = "a time-out is worth its last state's value, not 0"});
    v.Float("value_coef", value_coef, {.doc = "weight of the value loss"}, {0, 100});
    v.Float("entropy_coef", entropy_coef, {.doc = "weight of the entropy bonus"}, {0, 10});
    v.Float("bounds_coef", bounds_coef, {.doc = "weight of the penalty on means outside [-1, 1]"}, {0, 100});
    v.Float("aux_coef", aux_coef, {.doc = "weight of the object-position loss"}, {0, 1000});
    v.Float("max_grad_norm", max_grad_norm, {.doc = "gradients are scaled down to this norm; 0: never"}, {0, 1e6});
    v.Float("lr", lr, {.doc = "learning rate at the start"}, {0, 1});
    v.Choice("lr_scaling", lr_scaling, {"none", "sqrt", "linear"},
             {.doc = "how lr, schedule.min_lr and schedule.max_lr grow with minibatch / lr_base_minibatch"});
    v.Int("lr_base_minibatch", lr_base_minibatch, {.doc = "minibatch for which the learning rates are meant"},
          {1, 1 << 24});
    v.Group("schedule", schedule, "learning rate over time");
    v.Choice("off_policy", off_policy, {"ratio", "vtrace"},
             {.doc = "how samples of older policy versions are corrected: by PPO's own ratio to the policy that acted, "
                     "or by V-trace to the policy at the start of the update, from which PPO's ratio then counts"});
    v.Float("rho_clip", rho_clip, {.doc = "V-trace: largest weight of a step's temporal difference"}, {1e-3, 1e3});
    v.Float("c_clip", c_clip, {.doc = "V-trace: largest weight of a step in the trace"}, {1e-3, 1e3});
    v.Int("threads", threads, {.doc = "CPU threads of inference and update; part of what a run's bits depend on"},
          {1, 1024});
  }

  // L of a policy with or without memory: the samples of L steps are learned from together.
  int SequenceOf(bool memory) const { return memory ? sequence : 1; }
  // What lr_scaling multiplies learning rates by.
  double LearningRateScale() const {
    const double batches = static_cast<double>(minibatch) / lr_base_minibatch;
    return lr_scaling == "linear" ? batches : lr_scaling == "sqrt" ? std::sqrt(batches) : 1.0;
  }
};

}  // namespace gripstream
