#include "sim_server/role.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "core/cpus.h"
#include "core/error.h"
#include "core/process_memory.h"
#include "core/trace.h"
#include "envs/env_batch.h"
#include "sim_server/actor.h"
#include "sim_server/env_images.h"
#include "sim_server/env_view.h"
#include "sim_server/episode_film.h"
#include "sim_server/episode_sheet.h"
#include "sim_server/simulator_budget.h"
#include "wire/episode_request.h"

namespace gripstream {
namespace {

// Seconds since it was made or last read.
class Stopwatch {
 public:
  float Lap() {
    const auto now = std::chrono::steady_clock::now();
    const float seconds = std::chrono::duration<float>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

constexpr size_t kRecordAlignment_bytes = 64;

// The greatest number of groups that a mode has.
constexpr int kMostGroups = 2;

// Notes what malloc has handed out since the last note.
class HeapNotes {
 public:
  explicit HeapNotes(std::vector<MemoryUse>& notes) : notes_(notes) {}
  void Note(const char* part) {
    const size_t now = HeapInUse();
    notes_.push_back({part, static_cast<double>(now) - static_cast<double>(before_)});
    before_ = now;
  }

 private:
  std::vector<MemoryUse>& notes_;
  size_t before_ = HeapInUse();
};

int PhysicsThreads(const PhysicsConfig& config) {
  return config.threads > 0 ? config.threads : AvailableCpus();
}

}  // namespace

// One connection to the learner: turns commands into records.
class Simulator::Loop {
 public:
  Loop(Simulator& simulator, SimulatorEnd& wire, double deadline_s)
      : simulator_(simulator),
        wire_(wire),
        deadline_s_(deadline_s),
        layout_(simulator.RecordSpecs(), simulator.GroupEnvs()),
        groups_(static_cast<size_t>(simulator.Groups())) {}

  void Run() {
    for (;;) {
      wire_.SetStage("waiting for a command");
      const Command command = WaitCommand();
      switch (command.kind) {
        case CommandKind::kReset:
          Reset(command);
          break;
        case CommandKind::kStep:
          Step(command);
          break;
        case CommandKind::kSaveState:
          SaveState(command);
          break;
        case CommandKind::kLoadState:
          LoadState(command);
          break;
        case CommandKind::kSetLevel:
          SetLevel(command);
          break;
        case CommandKind::kPolicy:
          ActorOf(command).TakePolicy(command.payload, command.policy_version);
          break;
        case CommandKind::kAct:
          Act(command);
          break;
        case CommandKind::kStop:
          return;
      }
    }
  }

 private:
  // What a group remembers between commands, besides its environments.
  struct Group {
    uint32_t step = 0;
    std::unique_ptr<EpisodeWatcher> watcher;
  };

  Command WaitCommand() {
    const TraceSpan span("wait for a command");
    return wire_.WaitCommand(Deadline::After(deadline_s_));
  }
  std::span<std::byte> AcquireRecord() {
    const TraceSpan span("wait for a free record");
    return wire_.AcquireRecord(Deadline::After(deadline_s_));
  }

  EnvBatch& EnvsOf(const Command& command) { return *simulator_.groups_[command.group]; }
  Group& GroupOf(const Command& command) { return groups_[command.group]; }
  // Global id of the group's first environment.
  uint32_t FirstEnv(const Command& command) const {
    return simulator_.EnvBegin() + command.group * static_cast<uint32_t>(simulator_.GroupEnvs());
  }

  void Reset(const Command& command) {
    wire_.SetStage("resetting");
    const TraceSpan span("reset");
    const EpisodeRequest request = EpisodeRequest::Decode(command.payload);
    Stopwatch watch;
    EnvsOf(command).Reset({.mode = request.evaluation ? ResetRequest::Mode::kEval : ResetRequest::Mode::kTrain,
                           .first_episode = request.first_episode,
                           .eval_seed = request.seed,
                           .total_envs = static_cast<uint32_t>(simulator_.options_.sim.processes * simulator_.Envs()),
                           .held_out = request.held_out});
    Group& group = GroupOf(command);
    group.step = 0;
    group.watcher = WatcherFor(command, request);
    Publish(command, watch);
  }

  // Whoever makes the pictures that are wanted; nobody where there are none.
  std::unique_ptr<EpisodeWatcher> WatcherFor(const Command& command, const EpisodeRequest& request) {
    if (request.shown == 0) return nullptr;
    const EnvBatch& envs = EnvsOf(command);
    // Of this group's environments those whose episodes count. A sheet chooses among as many in every mode.
    const int begin = static_cast<int>(FirstEnv(command)), end = static_cast<int>(request.episodes);
    const bool film = request.picture_path.ends_with(".mp4");
    const int most = film ? simulator_.GroupEnvs() : std::max(1, simulator_.Envs() / kMostGroups);
    const int candidates = std::clamp(end - begin, 1, most);
    if (!film) {
      return std::make_unique<EpisodeSheet>(envs, candidates, static_cast<int>(request.shown), request.picture_path);
    }
    const TaskConfig& task = simulator_.options_.task;
    return std::make_unique<EpisodeFilm>(envs, candidates, request,
                                         static_cast<double>(task.physics_hz) / task.decimation);
  }

  void Step(const Command& command) {
    const size_t expected = simulator_.ActionSpec().Bytes() * static_cast<size_t>(simulator_.GroupEnvs());
    if (command.payload.size() != expected) {
      throw RunError("step command of " + std::to_string(command.payload.size()) + " bytes of actions, expected " +
                     std::to_string(expected));
    }
    actions_.resize(expected / sizeof(float));
    std::memcpy(actions_.data(), command.payload.data(), expected);
    StepBy(command, actions_.data(), 0);
  }

  Actor& ActorOf(const Command& command) {
    if (!simulator_.actor_) {
      throw RunError(std::string("the learner's command '") + NameOf(command.kind) +
                     "' is for simulators that act, which this one cannot");
    }
    return *simulator_.actor_;
  }

  void Act(const Command& command) {
    wire_.SetStage("acting");
    uint64_t step;
    if (command.payload.size() != sizeof(step)) throw RunError("act command of another size than expected");
    std::memcpy(&step, command.payload.data(), sizeof(step));
    Actor& actor = ActorOf(command);
    Stopwatch watch;
    std::span<const float> actions;
    {
      const TraceSpan span("act");
      actions = actor.Act(command.policy_version, step);
    }
    StepBy(command, actions.data(), watch.Lap());
  }

  void StepBy(const Command& command, const float* actions, float inference_s) {
    wire_.SetStage("stepping physics");
    Stopwatch watch;
    {
      const TraceSpan span("physics");
      EnvsOf(command).Step(actions);
    }
    ++GroupOf(command).step;
    Publish(command, watch, inference_s);
  }

  // `watch` has run since the physics began.
  void Publish(const Command& command, Stopwatch& watch, float inference_s = 0) {
    const float physics_s = watch.Lap();
    wire_.SetStage("waiting for a free record");
    const std::span<std::byte> record = AcquireRecord();
    if (record.empty()) return;  // the learner has asked to stop; the next command says so
    wire_.SetStage("rendering");
    watch.Lap();
    const EnvBatch& envs = EnvsOf(command);
    {
      const TraceSpan span("observe");
      WriteTensors(envs, layout_, record);
    }
    const float observe_s = watch.Lap();
    const int first = static_cast<int>(command.group) * simulator_.GroupEnvs();
    {
      const TraceSpan span("render");
      simulator_.images_->Render(envs, first, layout_, record);
    }
    RecordHeader& header = Layout::Header(record);
    Group& group = GroupOf(command);
    header.step = group.step;
    header.policy_version = command.policy_version;
    header.group = command.group;
    header.env_begin = FirstEnv(command);
    header.physics_s = physics_s;
    header.observe_s = observe_s;
    header.render_s = watch.Lap();
    header.inference_s = inference_s;
    if (simulator_.actor_) {
      if (command.kind == CommandKind::kAct) simulator_.actor_->Write(layout_, record);
      simulator_.actor_->Observe(layout_, record);
    }
    if (group.watcher) group.watcher->Observe(envs, layout_, record);
    wire_.PublishRecord();
  }

  // Answered by nothing.
  void SetLevel(const Command& command) {
    int32_t level;
    if (command.payload.size() != sizeof(level)) throw RunError("curriculum level of another size than expected");
    std::memcpy(&level, command.payload.data(), sizeof(level));
    EnvsOf(command).SetCurriculumLevel(level);
  }

  void SaveState(const Command& command) {
    wire_.SetStage("saving state");
    const TraceSpan span("save state");
    const EnvBatch& envs = EnvsOf(command);
    std::vector<std::byte> state(envs.StateBytes() * static_cast<size_t>(envs.Envs()));
    for (int i = 0; i < envs.Envs(); ++i) {
      envs.SaveState(i, state.data() + envs.StateBytes() * static_cast<size_t>(i));
    }
    wire_.SendState(state);
  }

  void LoadState(const Command& command) {
    wire_.SetStage("loading state");
    EnvBatch& envs = EnvsOf(command);
    if (command.payload.size() != envs.StateBytes() * static_cast<size_t>(envs.Envs())) {
      throw RunError("saved environment state has another size than this task's");
    }
    Stopwatch watch;
    for (int i = 0; i < envs.Envs(); ++i) {
      envs.LoadState(i, command.payload.data() + envs.StateBytes() * static_cast<size_t>(i));
    }
    envs.FinishLoad();
    GroupOf(command).watcher.reset();
    Publish(command, watch);
  }

  Simulator& simulator_;
  SimulatorEnd& wire_;
  double deadline_s_;
  Layout layout_;
  std::vector<Group> groups_;
  std::vector<float> actions_;  // [N, A]
};

Simulator::Simulator(const SimulatorOptions& options)
    : options_(options), env_begin_(static_cast<uint32_t>(options.index * options.sim.envs)) {
  GS_CHECK(options.groups >= 1 && options.sim.envs % options.groups == 0,
           std::to_string(options.sim.envs) + " environments in " + std::to_string(options.groups) + " groups");
  HeapNotes notes(memory_);
  std::vector<const mjModel*> models;
  for (int g = 0; g < options.groups; ++g) {
    const uint32_t begin = env_begin_ + static_cast<uint32_t>(g * GroupEnvs());
    groups_.push_back(EnvBatch::Make(options.task, options.physics, options.seed, begin, GroupEnvs()));
    const std::vector<const mjModel*> own = groups_.back()->DistinctModels();
    models.insert(models.end(), own.begin(), own.end());
  }
  notes.Note(kEnvironmentsPart);
  const int threads = options.sim.render_threads > 0 ? options.sim.render_threads : PhysicsThreads(options.physics);
  images_ = std::make_unique<EnvImages>(options.render, options.task, options.seed, models, options.sim.envs,
                                        GroupEnvs(), threads);
  notes.Note(kCamerasPart);
  // Assigning writes every page: memory that is only reserved would not be charged to anybody.
  reserve_.assign(static_cast<size_t>(options.sim.reserve_bytes_per_env) * static_cast<size_t>(options.sim.envs),
                  std::byte{1});
  notes.Note(kReservePart);
}

Simulator::~Simulator() = default;

void Simulator::SetActor(std::unique_ptr<Actor> actor) {
  GS_CHECK(options_.groups == 1, "a simulator that acts steps all its environments together");
  actor_ = std::move(actor);
}

void Simulator::WarmUp() {
  HeapNotes notes(memory_);
  const Layout layout(RecordSpecs(), GroupEnvs());
  {
    std::vector<std::byte> record(layout.Bytes() + kRecordAlignment_bytes);
    void* aligned = record.data();
    size_t space = record.size();
    std::align(kRecordAlignment_bytes, layout.Bytes(), aligned, space);
    for (int g = 0; g < Groups(); ++g) {
      EnvBatch& envs = *groups_[static_cast<size_t>(g)];
      envs.Reset({});
      images_->Render(envs, g * GroupEnvs(), layout, {static_cast<std::byte*>(aligned), layout.Bytes()});
    }
  }
  notes.Note(kCamerasPart);
}

std::vector<TensorSpec> Simulator::RecordSpecs() const {
  std::vector<TensorSpec> specs = groups_.front()->RecordSpecs();
  specs.insert(specs.end(), images_->Specs().begin(), images_->Specs().end());
  if (actor_) {
    const std::vector<TensorSpec> acted = actor_->Specs();
    specs.insert(specs.end(), acted.begin(), acted.end());
  }
  return specs;
}

const TensorSpec& Simulator::ActionSpec() const {
  return groups_.front()->ActionSpec();
}
const std::vector<std::string>& Simulator::RewardTerms() const {
  return groups_.front()->RewardTerms();
}

std::vector<std::string> Simulator::Metrics() const {
  return groups_.front()->Metrics();
}

const EnvBatch& Simulator::Envs(int group) const {
  return *groups_[static_cast<size_t>(group)];
}

std::vector<std::string> Simulator::ObjectNames() const {
  return groups_.front()->ObjectNames();
}

void Simulator::TakeEnvs(uint32_t env_begin) {
  env_begin_ = env_begin;
  for (int g = 0; g < Groups(); ++g) {
    groups_[static_cast<size_t>(g)]->SetFirstEnv(env_begin + static_cast<uint32_t>(g * GroupEnvs()));
  }
}

void Simulator::Serve(SimulatorEnd& wire, double deadline_s) {
  try {
    if (wire.EnvBegin() != kAnyEnvs) TakeEnvs(wire.EnvBegin());
    Loop(*this, wire, deadline_s).Run();
  } catch (const std::exception& error) {
    wire.SendFailure(error.what());
    throw;
  }
}

}  // namespace gripstream
