#include "learner/algorithm.h"

namespace gripstream {

void MergeEverybodys(const LearnerGroup& group, const NormalizerRows& own, Policy& policy) {
  for (const torch::Tensor& moments : group.Gather(policy.NormalizerMoments(own), "statistics of observations")) {
    policy.MergeNormalizers(moments);
  }
}

}  // namespace gripstream
