#include "sim_server/role.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "core/error.h"
#include "envs/env_batch.h"
#include "sim_server/episode_sheet.h"
#include "sim_server/render/renderer.h"
#include "wire/episode_request.h"

namespace gripstream {
namespace {

constexpr char kDepthTensor[] = "obs.depth";

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

int PhysicsThreads(const PhysicsConfig& config) {
  return config.threads > 0 ? config.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::vector<SceneView> ViewsOf(const EnvBatch& envs, int count) {
  std::vector<SceneView> views;
  for (int i = 0; i < count; ++i) {
    views.push_back({envs.Model(i), envs.GeomXpos(i), envs.GeomXmat(i), envs.CamXpos(i), envs.CamXmat(i)});
  }
  return views;
}

}  // namespace

// One connection to the learner: turns commands into records.
class Simulator::Loop {
 public:
  Loop(Simulator& simulator, SimulatorEnd& wire, double deadline_s)
      : simulator_(simulator),
        wire_(wire),
        deadline_s_(deadline_s),
        layout_(simulator.RecordSpecs(), simulator.Envs()),
        depth_index_(layout_.Index(kDepthTensor)) {}

  void Run() {
    for (;;) {
      wire_.SetStage("waiting for a command");
      const Command command = wire_.WaitCommand(Deadline::After(deadline_s_));
      switch (command.kind) {
        case CommandKind::kReset:
          Reset(command);
          break;
        case CommandKind::kStep:
          Step(command);
          break;
        case CommandKind::kSaveState:
          SaveState();
          break;
        case CommandKind::kLoadState:
          LoadState(command);
          break;
        case CommandKind::kStop:
          return;
      }
    }
  }

 private:
  EnvBatch& Envs() { return *simulator_.envs_; }

  void Reset(const Command& command) {
    wire_.SetStage("resetting");
    const EpisodeRequest request = EpisodeRequest::Decode(command.payload);
    Stopwatch watch;
    Envs().Reset({.mode = request.evaluation ? ResetRequest::Mode::kEval : ResetRequest::Mode::kTrain,
                  .first_episode = request.first_episode,
                  .eval_seed = request.seed,
                  .total_envs = static_cast<uint32_t>(simulator_.options_.sim.processes * simulator_.Envs())});
    sheet_.reset();
    if (request.sheet_rows > 0) {
      sheet_ = std::make_unique<EpisodeSheet>(Envs(), simulator_.options_.render, simulator_.options_.task.camera,
                                              static_cast<int>(request.sheet_rows), request.sheet_path);
    }
    step_ = 0;
    Publish(command.policy_version, watch);
  }

  void Step(const Command& command) {
    wire_.SetStage("stepping physics");
    const size_t expected = simulator_.ActionSpec().Bytes() * static_cast<size_t>(simulator_.Envs());
    if (command.payload.size() != expected) {
      throw RunError("step command of " + std::to_string(command.payload.size()) + " bytes of actions, expected " +
                     std::to_string(expected));
    }
    actions_.resize(expected / sizeof(float));
    std::memcpy(actions_.data(), command.payload.data(), expected);
    Stopwatch watch;
    Envs().Step(actions_.data());
    ++step_;
    Publish(command.policy_version, watch);
  }

  // `watch` has run since the physics began.
  void Publish(uint64_t policy_version, Stopwatch& watch) {
    const float physics_s = watch.Lap();
    wire_.SetStage("waiting for a free record");
    const std::span<std::byte> record = wire_.AcquireRecord(Deadline::After(deadline_s_));
    if (record.empty()) return;  // the learner has asked to stop; the next command says so
    wire_.SetStage("rendering");
    watch.Lap();
    WriteTensors(record);
    const float observe_s = watch.Lap();
    RenderTargets targets;
    targets.depth_u16 = layout_.View<uint16_t>(record, depth_index_).data();
    simulator_.renderer_->Render(ViewsOf(Envs(), simulator_.Envs()), targets);
    RecordHeader& header = Layout::Header(record);
    header.step = step_;
    header.policy_version = policy_version;
    header.physics_s = physics_s;
    header.observe_s = observe_s;
    header.render_s = watch.Lap();
    if (sheet_) sheet_->Observe(Envs(), targets.depth_u16, layout_, record);
    wire_.PublishRecord();
  }

  void WriteTensors(std::span<std::byte> record) {
    std::vector<std::byte*> tensors;
    for (size_t i = 0; i < Envs().RecordSpecs().size(); ++i) {
      tensors.push_back(record.data() + layout_.Offset(static_cast<int>(i)));
    }
    Envs().Write(tensors);
  }

  void SaveState() {
    wire_.SetStage("saving state");
    std::vector<std::byte> state(Envs().StateBytes() * static_cast<size_t>(simulator_.Envs()));
    for (int i = 0; i < simulator_.Envs(); ++i) {
      Envs().SaveState(i, state.data() + Envs().StateBytes() * static_cast<size_t>(i));
    }
    wire_.SendState(state);
  }

  void LoadState(const Command& command) {
    wire_.SetStage("loading state");
    if (command.payload.size() != Envs().StateBytes() * static_cast<size_t>(simulator_.Envs())) {
      throw RunError("saved environment state has another size than this task's");
    }
    Stopwatch watch;
    for (int i = 0; i < simulator_.Envs(); ++i) {
      Envs().LoadState(i, command.payload.data() + Envs().StateBytes() * static_cast<size_t>(i));
    }
    Envs().FinishLoad();
    sheet_.reset();
    Publish(command.policy_version, watch);
  }

  Simulator& simulator_;
  SimulatorEnd& wire_;
  double deadline_s_;
  Layout layout_;
  int depth_index_;
  uint64_t step_ = 0;
  std::vector<float> actions_;  // [N, A]
  std::unique_ptr<EpisodeSheet> sheet_;
};

Simulator::Simulator(const SimulatorOptions& options)
    : options_(options), env_begin_(static_cast<uint32_t>(options.index * options.sim.envs)) {
  envs_ = EnvBatch::Make(options.task, options.physics, options.seed, env_begin_, options.sim.envs);
  const int threads = options.sim.render_threads > 0 ? options.sim.render_threads : PhysicsThreads(options.physics);
  renderer_ = BatchRenderer::Make(options.render, options.task.camera, envs_->DistinctModels(), threads);
  // Assigning writes every page: memory that is only reserved would not be charged to anybody.
  reserve_.assign(static_cast<size_t>(options.sim.reserve_bytes_per_env) * static_cast<size_t>(options.sim.envs),
                  std::byte{1});
}

Simulator::~Simulator() = default;

std::vector<TensorSpec> Simulator::RecordSpecs() const {
  std::vector<TensorSpec> specs = envs_->RecordSpecs();
  specs.push_back(
      {kDepthTensor, DType::kUint16, {options_.render.height, options_.render.width}, "m", kDepthQuantum_m});
  return specs;
}

const TensorSpec& Simulator::ActionSpec() const {
  return envs_->ActionSpec();
}
const std::vector<std::string>& Simulator::RewardTerms() const {
  return envs_->RewardTerms();
}

std::vector<std::string> Simulator::ObjectNames() const { return envs_->ObjectNames(); }

void Simulator::Serve(SimulatorEnd& wire, double deadline_s) {
  try {
    Loop(*this, wire, deadline_s).Run();
  } catch (const std::exception& error) {
    wire.SendFailure(error.what());
    throw;
  }
}

}  // namespace gripstream
