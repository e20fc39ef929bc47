#include "policies/parameters.h"

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {

const torch::Tensor& TensorNamed(const std::vector<NamedTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& t) { return t.name == name; });
  GS_CHECK(found != tensors.end(), "no tensor " + name);
  return found->value;
}

torch::Tensor ParameterSet::Add(const std::string& name, const torch::Tensor& value) {
  for (const NamedTensor& other : all_) GS_CHECK(other.name != name, "two parameters named " + name);
  torch::Tensor leaf = value.detach().contiguous().clone().requires_grad_(true);
  all_.push_back({name, leaf});
  return leaf;
}

int64_t ParameterSet::Count() const {
  int64_t total = 0;
  for (const NamedTensor& parameter : all_) total += parameter.value.numel();
  return total;
}

std::string ParameterSet::Describe() const {
  std::ostringstream out;
  for (const NamedTensor& parameter : all_) out << parameter.name << " " << parameter.value.sizes() << "\n";
  out << "total " << Count() << " parameters\n";
  return out.str();
}

ParameterSet::Flat ParameterSet::Flatten() {
  const torch::NoGradGuard no_grad;
  Flat flat = {at::empty({Count()}, torch::kFloat32), {}};
  const auto for_each = [&](auto&& visit) {
    int64_t offset = 0;
    for (NamedTensor& parameter : all_) {
      visit(parameter, offset);
      offset += parameter.value.numel();
    }
  };
  const auto part = [](const torch::Tensor& whole, const torch::Tensor& like, int64_t offset) {
    return whole.narrow(0, offset, like.numel()).view(like.sizes());
  };
  for_each([&](NamedTensor& parameter, int64_t offset) {
    const torch::Tensor values = part(flat.values, parameter.value, offset);
    values.copy_(parameter.value);
    parameter.value.set_data(values);
  });
  // Only now, when the values as they were are gone.
  flat.gradients = at::zeros({Count()}, torch::kFloat32);
  for_each([&](NamedTensor& parameter, int64_t offset) {
    parameter.value.mutable_grad() = part(flat.gradients, parameter.value, offset);
  });
  return flat;
}

std::string ParametersSha256(const ParameterSet& parameters) {
  Sha256 hash;
  for (const NamedTensor& parameter : parameters.All()) {
    const torch::Tensor raw = parameter.value.detach().contiguous();
    hash.Update(raw.data_ptr(), raw.nbytes());
  }
  return hash.HexDigest();
}

}  // namespace gripstream
