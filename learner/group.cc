#include "learner/group.h"

#define USE_C10D_GLOO  // LibTorch's libraries have it; its headers wait to be told
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <chrono>
#include <utility>

#include "core/deadline.h"
#include "core/error.h"
#include "learner/group_roll.h"

namespace gripstream {
namespace {

constexpr auto kLookAround = std::chrono::milliseconds(250);  // between looks at who is still alive

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

}  // namespace

struct LearnerGroup::Connection {
  explicit Connection(const GroupOptions& options) : patience_s(options.patience_s), roll(options) {
    const auto gloo = c10d::ProcessGroupGloo::Options::create(Milliseconds(options.patience_s));
    gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(OwnAddress(options)));
    try {
      group = c10::make_intrusive<c10d::ProcessGroupGloo>(roll.Store(), options.rank, options.size, gloo);
    } catch (const std::exception&) {
      throw RunError(roll.WhoIsLost("connecting the learners"));
    }
  }

  // A collective that will never end keeps a thread of Gloo's, which its destructor would wait for. The run is over:
  // the process's end takes both.
  ~Connection() {
    if (broken) group.release();
  }

  // Starts a collective and waits for it.
  template <class Start>
  void Do(Start&& start, const std::string& what) {
    Await(*Begin(std::forward<Start>(start), what), what);
  }

  // A connection that is broken already shows here.
  template <class Start>
  c10::intrusive_ptr<c10d::Work> Begin(Start&& start, const std::string& what) {
    try {
      return start();
    } catch (const std::exception&) {
      broken = true;
      throw RunError(roll.WhoIsLost(what));
    }
  }

  // Looks around while it waits: a member that is gone or silent ends the wait.
  void Await(c10d::Work& work, const std::string& what) {
    const Deadline patience = Deadline::After(patience_s);
    broken = true;  // until it is done
    while (!IsDone(work, what)) {
      roll.RequireEverybodyAlive(what);
      if (patience.Passed()) throw RunError(roll.WhoIsLate(what, patience_s));
    }
    broken = false;
  }

  bool IsDone(c10d::Work& work, const std::string& what) {
    try {
      work.wait(kLookAround);
      return true;
    } catch (const std::exception&) {  // it has failed, or is not done yet
      if (work.isCompleted() && !work.isSuccess()) throw RunError(roll.WhoIsLost(what));
      return work.isCompleted();
    }
  }

  double patience_s;
  GroupRoll roll;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group;
  bool broken = false;
};

struct LearnerGroup::Sum::Work {
  Connection& connection;
  std::vector<torch::Tensor> tensors;
  c10::intrusive_ptr<c10d::Work> work;
  std::string what;
};

LearnerGroup::Sum::Sum(std::unique_ptr<Work> work) : work_(std::move(work)) {}
LearnerGroup::Sum::Sum(Sum&&) noexcept = default;
LearnerGroup::Sum::~Sum() = default;

void LearnerGroup::Sum::Finish() {
  if (work_) work_->connection.Await(*work_->work, work_->what);
  work_.reset();
}

LearnerGroup::LearnerGroup() = default;
LearnerGroup::~LearnerGroup() = default;

LearnerGroup::LearnerGroup(const GroupOptions& options) : options_(options) {
  GS_CHECK(options.size >= 1 && options.rank >= 0 && options.rank < options.size, "rank outside the group");
  if (options.size > 1) connection_ = std::make_unique<Connection>(options);
}

LearnerGroup::Sum LearnerGroup::BeginSum(const torch::Tensor& x, const std::string& what) const {
  if (!connection_) return Sum(nullptr);
  GS_CHECK(x.is_contiguous(), "only contiguous tensors are summed");
  auto work = std::make_unique<Sum::Work>(Sum::Work{*connection_, {x}, {}, what});
  work->work = connection_->Begin([&] { return connection_->group->allreduce(work->tensors); }, what);
  return Sum(std::move(work));
}

double LearnerGroup::SumOf(double x, const std::string& what) const {
  if (!connection_) return x;
  const torch::Tensor one = at::full({1}, x, torch::kFloat64);
  SumUp(one, what);
  return one.item<double>();
}

std::vector<torch::Tensor> LearnerGroup::Gather(const torch::Tensor& own, const std::string& what) const {
  if (!connection_) return {own};
  std::vector<torch::Tensor> inputs = {own.contiguous()};
  std::vector<std::vector<torch::Tensor>> outputs(1);
  for (int i = 0; i < Size(); ++i) outputs[0].push_back(at::empty_like(inputs[0]));
  connection_->Do([&] { return connection_->group->allgather(outputs, inputs); }, what);
  return outputs[0];
}

std::vector<torch::Tensor> LearnerGroup::GatherToLeader(const torch::Tensor& own, const std::string& what) const {
  if (!connection_) return {own};
  std::vector<torch::Tensor> inputs = {own.contiguous()};
  std::vector<std::vector<torch::Tensor>> outputs;
  if (Leads()) outputs.resize(1);
  for (int i = 0; Leads() && i < Size(); ++i) outputs[0].push_back(at::empty_like(inputs[0]));
  connection_->Do([&] { return connection_->group->gather(outputs, inputs); }, what);
  return Leads() ? outputs[0] : std::vector<torch::Tensor>();
}

}  // namespace gripstream
