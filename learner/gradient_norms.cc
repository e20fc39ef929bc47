#include "learner/gradient_norms.h"

#include <algorithm>
#include <cmath>

namespace gripstream {

std::vector<std::pair<std::string, double>> GradientNorms(const ParameterSet& parameters,
                                                          const torch::Tensor& gradients) {
  std::vector<std::pair<std::string, double>> norms;  // squares until the end
  int64_t offset = 0;
  for (const NamedTensor& parameter : parameters.All()) {
    const std::string module = parameter.name.substr(0, parameter.name.find('.'));
    auto found = std::ranges::find(norms, module, &std::pair<std::string, double>::first);
    if (found == norms.end()) found = norms.insert(found, {module, 0.0});
    const int64_t size = parameter.value.numel();
    const double norm = gradients.narrow(0, offset, size).norm().item<double>();
    found->second += norm * norm;
    offset += size;
  }
  for (auto& [module, square] : norms) square = std::sqrt(square);
  return norms;
}

}  // namespace gripstream
