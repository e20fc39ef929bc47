// Configuration of distillation. Plain values, no LibTorch: every binary parses the whole run file.
#pragma once

#include <string>

#include "core/config.h"

namespace gripstream {

struct DistillConfig {
  std::string teacher;
  double teacher_tolerance = 0.1;
  int sequence = 1;
  int micro_batch = 64;
  double lr = 1e-4;
  double max_grad_norm = 1.0;
  double sigma_floor = 0.05;
  double std_coef = 1.0;
  double aux_coef = 10.0;

  bool Enabled() const { return !teacher.empty(); }
  void Fields(FieldVisitor& v) {
    v.String("teacher", teacher,
             {.doc = "run folder or checkpoint whose policy is to be imitated, instead of PPO; empty: PPO"});
    v.Float("teacher_tolerance", teacher_tolerance,
            {.doc = "how far the teacher's return in evaluation may be off what its own run found, relative"}, {0, 10});
    v.Int("sequence", sequence, {.doc = "environment steps per gradient step, and how far gradients go back in time"},
          {1, 4096});
    v.Int("micro_batch", micro_batch, {.doc = "environments per forward and backward pass"}, {1, 1 << 24});
    v.Float("lr", lr, {.doc = "learning rate"}, {0, 1});
    v.Float("max_grad_norm", max_grad_norm, {.doc = "gradients are scaled down to this norm; 0: never"}, {0, 1e6});
    v.Float("sigma_floor", sigma_floor, {.doc = "least teacher's deviation that an action's error is divided by"},
            {1e-4, 10});
    v.Float("std_coef", std_coef, {.doc = "weight of the error in the actions' deviation"}, {0, 1e3});
    v.Float("aux_coef", aux_coef, {.doc = "weight of the error in the object's position (m)"}, {0, 1e4});
  }
};

}  // namespace gripstream
