#include "core/error.h"
#include "launch/acting.h"

namespace gripstream {

std::unique_ptr<Actor> MakeActor(const RunConfig& config, const Simulator&) {
  throw InputError("gripstream-sim", "runtime.inference", config.runtime.inference,
                   "learner; simulators that act are gripstream-sim-acting, which is built with LibTorch");
}

}  // namespace gripstream
