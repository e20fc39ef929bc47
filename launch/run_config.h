// The whole run file as one typed struct, and the facts that several roles derive from it.
//
// Header-only and free of MuJoCo and LibTorch, so that every binary parses and checks all of it.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"
#include "distill/config.h"
#include "envs/config.h"
#include "learner/config.h"
#include "learner/train_config.h"
#include "policies/config.h"
#include "sim_server/cameras_config.h"
#include "sim_server/config.h"
#include "wire/config.h"

namespace gripstream {

struct RunSection {
  std::string dir;
  uint64_t seed = 1;
  bool deterministic = false;
  bool over_commit = false, measure_memory = false;

  void Fields(FieldVisitor& v) {
    v.String("dir", dir, {.doc = "folder of the run; empty: runs/<config name>-<time>"});
    v.Uint64("seed", seed, {.doc = "of every random stream"});
    v.Bool("deterministic", deterministic,
           {.doc = "same seed, same bits. On CPUs runs always are, but for runtime.mode async, which then acts by the "
                   "oldest version that runtime.max_staleness allows instead of the newest there is"});
    v.Bool("over_commit", over_commit,
           {.doc = "start even where memory will not do (gripstream plan), with a warning"});
    v.Bool("measure_memory", measure_memory,
           {.doc = "measure what the roles will take before they start, and log it beside what they do, in a run, too, "
                   "that is small beyond doubt beside the memory there is"});
  }
};

struct RuntimeConfig {
  std::string mode = "double_buffered";
  int max_staleness = 0;
  double close_fraction = 1;
  std::string inference = "learner";
  std::string on_loss = "stop";
  double replace_within_s = 600;
  double rejoin_s = 60;
  int respawns = 3;

  void Fields(FieldVisitor& v) {
    v.Choice("mode", mode, {"lockstep", "double_buffered", "async", "data_parallel"},
             {.doc = "how roles take turns; all but async with max_staleness above 0 learn the same, up to rounding. "
                     "data_parallel: each of sim.processes processes simulates and learns (wire.transport is inproc)"});
    v.Int("max_staleness", max_staleness,
          {.doc = "async: policy versions an experience may lag behind what it trains; as many rollouts more are "
                  "held in memory",
           .unit = "versions"},
          {0, 1000});
    v.Float("close_fraction", close_fraction,
            {.doc = "async: a rollout closes once this fraction of the environments is through; what stragglers have "
                    "is carried into the next one, while max_staleness allows"},
            {0.01, 1});
    v.Choice(
        "inference", inference, {"learner", "simulator"},
        {.doc = "where the policy acts during collection. simulator: the learner publishes it to simulators, which "
                "ship whole trajectories and wait for no answer; for slow links. With mode lockstep or async"});
    v.Choice("on_loss", on_loss, {"stop", "replace"},
             {.doc = "what happens when a role dies, is stopped or cut off: the run stops; or it goes on without that "
                     "simulator until another one takes its place, and a learner that is killed is started again"});
    v.Float("replace_within_s", replace_within_s,
            {.doc = "on_loss replace: longest time that a simulator's place stays empty", .unit = "s"}, {0, 1e9});
    v.Float(
        "rejoin_s", rejoin_s,
        {.doc = "on_loss replace: how long simulators wait for the learner to come back; 0: not at all", .unit = "s"},
        {0, 1e9});
    v.Int("respawns", respawns,
          {.doc = "on_loss replace: how often within an hour gripstream train starts each role again"}, {0, 1000});
  }
};

struct LearnerConfig {
  int processes = 1;
  std::string gradient_delay = "none";
  std::string trusted_network;
  bool spill = false;

  void Fields(FieldVisitor& v) {
    v.Int("processes", processes,
          {.doc = "learner processes, which share one batch; each has sim.processes / learner.processes simulators"},
          {1, 256});
    v.Choice("gradient_delay", gradient_delay, {"none", "plain", "predicted"},
             {.doc = "plain, predicted: a gradient is applied one minibatch later, so that its sum over slow links "
                     "between learners takes no time of its own; predicted: it is taken where the parameters are "
                     "expected to be by then"});
    v.String("trusted_network", trusted_network,
             {.doc = "network that learners on several machines use among themselves, for example 10.0.0.0/24; nothing "
                     "there is encrypted, so it must be closed to others; empty: all learners are on one machine"});
    v.Bool("spill", spill,
           {.doc = "hold the experience buffer in pinned host memory instead of the learner's GPU; plans take it, runs "
                   "refuse it while learners run on CPUs"});
  }
};

struct SlurmConfig {
  std::vector<std::string> job, learner, simulator;

  void Fields(FieldVisitor& v) {
    v.Strings("job", job, {.doc = "options of the job, as sbatch takes them: [--partition=gpu, --time=8:00:00]"});
    v.Strings("learner", learner, {.doc = "options of each learner's step, as srun takes them: [--gpus=1]"});
    v.Strings("simulator", simulator, {.doc = "options of each simulator's step: [--gpus=1, --cpus-per-task=16]"});
  }
};

struct LaunchConfig {
  SlurmConfig slurm;

  void Fields(FieldVisitor& v) { v.Group("slurm", slurm, "gripstream launch --engine slurm"); }
};

struct RunConfig {
  RunSection run;
  TrainConfig train;
  EvalConfig eval;
  RuntimeConfig runtime;
  SimConfig sim;
  PhysicsConfig physics;
  CamerasConfig render;
  TaskConfig task;
  WireConfig wire;
  LearnerConfig learner;
  LaunchConfig launch;
  PolicyConfig policy;
  PpoConfig ppo;
  DistillConfig distill;

  void Fields(FieldVisitor& v) {
    v.Group("run", run, "the run as a whole");
    v.Group("train", train, "course of the training");
    v.Group("eval", eval, "evaluation on fixed episodes");
    v.Group("runtime", runtime, "how the roles work together");
    v.Group("sim", sim, "simulator processes");
    v.Group("physics", physics, "physics");
    v.Group("render", render, "cameras");
    v.Group("task", task, "what is to be learned");
    v.Group("wire", wire, "how experience moves");
    v.Group("learner", learner, "learner processes");
    v.Group("launch", launch, "starting the roles on a cluster");
    v.Group("policy", policy, "networks");
    v.Group("ppo", ppo, "PPO");
    v.Group("distill", distill, "imitating a teacher instead");
  }

  int TotalEnvs() const { return sim.processes * sim.envs; }
  int EnvsPerLearner() const { return TotalEnvs() / learner.processes; }
  int SimulatorsPerLearner() const { return sim.processes / learner.processes; }
  bool SimulatorsAct() const { return runtime.inference == "simulator"; }
  // Parts in which a simulator steps its environments.
  int Groups() const {
    return !SimulatorsAct() && (runtime.mode == "double_buffered" || runtime.mode == "async") ? 2 : 1;
  }
};

// Reads the file, lays the overrides over it and checks what no single field can: what is not built yet, sizes that
// must divide. Throws InputError. `run.dir` may still be empty.
RunConfig ReadRunConfig(const std::string& path, const std::vector<std::string>& overrides);
RunConfig ReadRunConfigText(const std::string& text, const std::string& name,
                            const std::vector<std::string>& overrides);

// The part of the configuration that both ends of the wire must agree on, as a hash: everything except the folder, the
// address, the course of the training and evaluation, and what happens on losses.
uint64_t AgreementHash(const RunConfig& config);

}  // namespace gripstream
