#include "learner/gradient_sum.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "core/error.h"
#include "core/trace.h"

namespace gripstream {
namespace {

constexpr char kWhat[] = "the sum of gradients";

}  // namespace

// Holds the graph nodes that accumulate gradients; the hooks on them live as long as these.
struct GradientSum::Hooks {
  std::vector<std::pair<c10::intrusive_ptr<torch::autograd::Node>, uintptr_t>> nodes;
};

GradientSum::GradientSum(const LearnerGroup& group, ParameterSet& parameters, const torch::Tensor& flat,
                         int64_t bucket_numbers)
    : group_(group), hooks_(std::make_unique<Hooks>()) {
  if (group.Size() == 1) return;
  const std::vector<NamedTensor>& all = parameters.All();
  int64_t end = flat.numel(), begin = end;
  int count = 0;
  for (size_t i = all.size(); i-- > 0;) {
    begin -= all[i].value.numel();
    ++count;
    const size_t bucket = buckets_.size();
    const auto node = torch::autograd::impl::grad_accumulator(all[i].value);
    const uintptr_t key = node->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
        [this, bucket](const torch::autograd::variable_list& outputs, const torch::autograd::variable_list&) {
          OnGradient(bucket);
          return outputs;
        }));
    hooks_->nodes.emplace_back(node, key);
    if (end - begin < bucket_numbers && i > 0) continue;
    buckets_.push_back({flat.narrow(0, begin, end - begin), count, 0});
    end = begin;
    count = 0;
  }
  GS_CHECK(begin == 0, "the flat gradient is not that of these parameters");
}

GradientSum::~GradientSum() {
  for (const auto& [node, key] : hooks_->nodes) node->del_post_hook(key);
}

void GradientSum::ExpectLastPass() {
  if (group_.Size() == 1) return;
  expecting_ = true;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.parameters;
}

void GradientSum::OnGradient(size_t bucket) {
  if (!expecting_) return;
  --buckets_[bucket].missing;
  BeginReady();
}

void GradientSum::BeginReady() {
  while (under_way_.size() < buckets_.size() && buckets_[under_way_.size()].missing == 0) {
    under_way_.push_back(group_.BeginSum(buckets_[under_way_.size()].gradients, kWhat));
  }
}

void GradientSum::Finish() {
  if (group_.Size() == 1) return;
  const TraceSpan span("wait for the sum of gradients");
  expecting_ = false;
  begun_before_finish_ = static_cast<int>(under_way_.size());
  for (Bucket& bucket : buckets_) bucket.missing = 0;
  BeginReady();
  for (LearnerGroup::Sum& sum : under_way_) sum.Finish();
  under_way_.clear();
}

}  // namespace gripstream
