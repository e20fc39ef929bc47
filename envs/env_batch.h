// N environments of one task: the step loop's inside.
//
//   Reset -> Write -> (actions) -> Step -> Write -> ...
//
// Every draw is keyed by (seed, purpose, global environment id, episode), so splitting a run's environments over
// processes and threads changes no number. An episode that ends is replaced at once: what Write gives then, and what
// the renderer sees, belongs to the new episode.
//
// An environment whose state becomes NaN, infinite or huge, or which overflows its contact space, is quarantined: its
// step is marked DoneKind::kFaulted, it is reset and counted, and the others do not notice.
//
// Calls are serialised by the caller; inside, the physics threads share the work. The models belong to the batch.
#pragma once

#include <mujoco/mujoco.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "control/action_map.h"
#include "core/done_kind.h"
#include "core/failure_kind.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/tensor_spec.h"
#include "envs/config.h"
#include "envs/model.h"
#include "envs/own_models.h"
#include "envs/per_env.h"
#include "envs/physics.h"
#include "envs/randomise.h"
#include "envs/task.h"

namespace gripstream {

inline constexpr size_t kMaxHandPoints = 16, kMaxTouches = 64;

struct ResetRequest {
  enum class Mode : uint32_t { kTrain = 0, kEval = 1 };
  Mode mode = Mode::kTrain;
  // kTrain: the number of every environment's first episode. kEval: of the set's first episode.
  uint32_t first_episode = 0;
  // kEval: the seed of the episode set, and how many environments share it over all processes: environment e runs the
  // episodes first_episode + e, + e + total_envs, ...
  uint64_t eval_seed = 0;
  uint32_t total_envs = 1;
  bool held_out = false;  // kEval: held-out objects instead of the training ones
};

// An episode as named to random streams: RandomStream::At(index, episode). Training episodes are named by environment
// and number, those of an evaluation set by their place in it, whichever environment plays them.
struct EpisodeKey {
  uint32_t index;
  uint64_t episode;
  bool operator==(const EpisodeKey&) const = default;
};

class EnvBatch {
 public:
  // Environments [first_env, first_env + n) of the run. Throws InputError on a configuration, model or name that does
  // not fit. Call Reset before anything else.
  static std::unique_ptr<EnvBatch> Make(const TaskConfig& task, const PhysicsConfig& physics, uint64_t seed,
                                        uint32_t first_env, int n);

  int Envs() const { return n_; }
  // The tensors of a step record, without images, per environment:
  //   obs.proprio          float32 [P]  what the robot knows of itself; laid out by the task, never the object
  //   state                float32 [S]  everything, for the critic; laid out by the task
  //   final_state          float32 [S]  `state` at the end of the episode that just ended; zeros while done is 0 or 3
  //   aux.object_position  float32 [3]  object's centre, base frame (m): a training target, never an input
  //   reward               float32 []   sum of reward_terms
  //   reward_terms         float32 [R]  of the previous action, weighted; names in RewardTerms()
  //   done                 uint8 []     DoneKind of the previous action
  //   success              uint8 []     1 when the episode that just ended succeeded
  //   episode_step         uint32 []    policy steps since the episode of this observation began
  //   episode              uint32 []    its number: per environment in training, within the set in evaluation
  //   env_id               uint32 []    global environment id
  //   object_id            int32 []     its object's place in the catalogue, -1 for the model's own
  //   metrics              float32 [M]  numbers to log after the previous action; names in Metrics(); only if there are
  const std::vector<TensorSpec>& RecordSpecs() const { return specs_; }
  // float32 [A], each component in [-1, 1]; what lies outside is clamped.
  const TensorSpec& ActionSpec() const { return action_spec_; }
  const std::vector<std::string>& RewardTerms() const { return task_->RewardTerms(); }
  std::vector<std::string> Metrics() const { return task_->Metrics(); }
  std::vector<FailureKind> Failures() const { return task_->Failures(); }  // by these metrics
  bool AnyHeldOut() const { return !models_.HeldOut().empty(); }           // objects for a held-out evaluation
  // What obs.proprio and state consist of, in order.
  const Task& TheTask() const { return *task_; }
  std::vector<ObservationField> ProprioFields() const { return task_->ProprioFields(Dims()); }
  std::vector<ObservationField> StateFields() const { return task_->StateFields(Dims()); }

  // Level of task.curriculum for episodes that begin from now on; clamped to the levels there are.
  void SetCurriculumLevel(int level);
  int CurriculumLevel() const { return curriculum_level_; }

  // This batch holds environments [first_env, first_env + n) from now on; Reset or LoadState must follow.
  void SetFirstEnv(uint32_t first_env);
  // Episodes start anew everywhere.
  void Reset(const ResetRequest& request);
  // One policy step; actions [N, A].
  void Step(const float* actions);
  // Copies every tensor of RecordSpecs() for all environments, [N, ...] each, to tensors[i].
  void Write(std::span<std::byte* const> tensors) const;

  // For the renderer; valid until the next Reset, Step or LoadState.
  const mjModel* Model(int env) const { return models_.Model(object_.Of(env)); }
  const mjtNum* GeomXpos(int env) const { return physics_->GeomXpos(env); }    // [ngeom, 3] m
  const mjtNum* GeomXmat(int env) const { return physics_->GeomXmat(env); }    // [ngeom, 9] row-major
  const mjtNum* CamXpos(int env) const { return physics_->CamXpos(env); }      // [ncam, 3] m
  const mjtNum* CamXmat(int env) const { return physics_->CamXmat(env); }      // [ncam, 9] row-major
  const mjtNum* LightXpos(int env) const { return physics_->LightXpos(env); }  // [nlight, 3] m
  const mjtNum* LightXdir(int env) const { return physics_->LightXdir(env); }  // [nlight, 3]
  int Camera() const { return models_.Binding().camera; }                      // of task.camera
  // For draws of the renderer's that must not depend on how environments are grouped.
  EpisodeKey Episode(int env) const;
  uint32_t EpisodeStep(int env) const { return episode_step_.Of(env); }
  std::vector<const mjModel*> DistinctModels() const;
  // By the record's "object_id"; empty texts for catalogue objects that this task does not use.
  std::vector<std::string> ObjectNames() const;

  // The state of one environment as StateBytes() bytes; it may be loaded into any batch that holds the same environment
  // of the same configuration. LoadState throws InputError on a block that is foreign or of another version; call
  // FinishLoad once after the last block.
  size_t StateBytes() const;
  void SaveState(int env, std::byte* out) const;
  void LoadState(int env, const std::byte* in);
  void FinishLoad();

  // What the robot's sensors say, as of the last Reset or Step: rad and rad/s, with noise where there is some.
  std::span<const double> SensedPositions(int env) const { return q_seen_[env]; }
  std::span<const double> SensedVelocities(int env) const { return qd_seen_[env]; }

  // Environment steps quarantined so far.
  uint64_t Faults() const { return faults_; }
  int EpisodeSteps() const { return episode_steps_; }
  const ObjectInfo& Object(int env) const { return models_.Object(object_.Of(env)); }
  BatchPhysics& Physics() { return *physics_; }
  // With the environment's own friction, gains and masses, unlike Model(). Valid as the above.
  const mjModel* PhysicsModel(int env) const { return physics_->Model(env); }
  const RobotBinding& Robot() const { return models_.Binding(); }

 private:
  EnvBatch(const TaskConfig& task, const PhysicsConfig& physics, uint64_t seed, uint32_t first_env, int n);

  void BuildSpecs();
  void Allocate();
  void ShuffleObjects();
  void BeginEpisodes(std::span<const int> ids);
  void UpdateModels(std::span<const int> ids);
  int ChooseObject(int env) const;
  int StepsOfEpisode(int env) const;
  void DrawEpisode(int env);  // settings_ of an environment from the level and the draws of its episode
  TaskDims Dims() const;
  Rng Draw(int env, const char* purpose) const;
  uint64_t EvaluationSet() const;  // the seed of its streams
  void Quarantine(int env);

  // On the physics threads.
  void Fill(int env, const SimView& sim);
  void CommandTicks();
  void CommandTicks(int begin, int end);
  void Control(int env, int tick, const SimView& sim);
  void ObserveStart(int env, const SimView& sim);
  void ObserveStep(int env, const SimView& sim);
  void Push(int env, const SimView& sim) const;
  struct Senses;
  void Sense(int env, const SimView& sim, Senses& senses) const;
  Scene MakeScene(int env, const SimView& sim, Senses& senses) const;
  void WriteObservation(int env, const Scene& scene);
  void WriteOutcome(int env, const Scene& scene);

  template <class Self, class Visit>
  static void VisitState(Self& self, int env, Visit&& visit);

  const TaskConfig config_;
  const uint64_t seed_;
  const int n_;
  const ModelSet models_;
  const std::unique_ptr<ActionMap> action_map_;
  const std::unique_ptr<Task> task_;
  const std::unique_ptr<OwnModels> own_models_;  // null unless physics is randomised
  const std::unique_ptr<BatchPhysics> physics_;
  ParallelFor share_;                   // over as many threads as physics has
  std::vector<LinkFrame> hand_frames_;  // palm, then fingertips
  const int episode_steps_;             // policy steps of a whole episode
  const int ticks_;                     // control ticks per policy step
  const double tick_s_;                 // duration of one
  std::vector<int> train_order_;        // training objects in seeded order: environment e holds entry e mod size
  std::vector<TensorSpec> specs_;
  TensorSpec action_spec_;

  ResetRequest request_;
  int32_t curriculum_level_ = 0;
  uint64_t faults_ = 0;

  // The record, in the order of specs_.
  PerEnv<float> proprio_, state_, final_state_, object_position_, reward_, terms_, metrics_;
  PerEnv<uint8_t> done_, success_;
  PerEnv<uint32_t> episode_step_, episode_, env_id_;
  PerEnv<int32_t> object_id_;
  // What else an environment remembers.
  PerEnv<int32_t> object_;                 // index in models_
  PerEnv<float> action_, last_action_;     // [N, A]
  PerEnv<double> memory_;                  // [N, M] of the action map
  PerEnv<double> command_q_, command_qd_;  // [N, ticks, J] of the step under way; speeds where they are wanted
  PerEnv<float> task_memory_;              // [N, K] of the task
  PerEnv<double> q_seen_, qd_seen_;        // [N, J]
  PerEnv<float> hand_distance_;            // object to the farthest hand point (m)
  PerEnv<int32_t> level_;                  // of the curriculum when the episode began
  std::vector<EpisodeSettings> settings_;  // follow from the above
};

}  // namespace gripstream
