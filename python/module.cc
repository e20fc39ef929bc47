// The Python module gripstream._native: environments and their records as NumPy arrays over the records' own memory.
//
// Binding only: what is bound is sim_server/local_envs.h. The interpreter's lock is let go while environments step.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "core/config.h"
#include "core/error.h"
#include "envs/env_batch.h"
#include "launch/run_config.h"
#include "sim_server/local_envs.h"

namespace gripstream {
namespace {

namespace nb = nanobind;

using Array = nb::ndarray<nb::numpy>;
using Actions = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::dlpack::dtype TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return nb::dtype<uint8_t>();
    case DType::kUint16:
      return nb::dtype<uint16_t>();
    case DType::kInt32:
      return nb::dtype<int32_t>();
    case DType::kUint32:
      return nb::dtype<uint32_t>();
    case DType::kInt64:
      return nb::dtype<int64_t>();
    case DType::kFloat32:
      return nb::dtype<float>();
  }
  GS_CHECK(false, "a record holds a type that Python does not know");
}

// The run file without the checks between keys that concern training.
SimulatorOptions OptionsOf(const std::string& path, const std::vector<std::string>& overrides) {
  RunConfig config;
  ConfigFile(path, overrides).Read(config);
  return {.sim = config.sim,
          .physics = config.physics,
          .render = config.render,
          .task = config.task,
          .seed = config.run.seed};
}

class NativeEnvs {
 public:
  NativeEnvs(const std::string& path, const std::vector<std::string>& overrides) : envs_(OptionsOf(path, overrides)) {}

  nb::dict Reset(std::optional<uint64_t> seed) {
    const std::shared_ptr<OwnRecord> record = envs_.TakeRecord();
    {
      const nb::gil_scoped_release others_run;
      const std::lock_guard one_at_a_time(mutex_);
      envs_.Reset(seed, *record);
    }
    return Tensors(record);
  }

  nb::dict Step(const Actions& actions) {
    const size_t n = static_cast<size_t>(envs_.RecordLayout().N()), size = ActionSize();
    if (actions.shape(0) != n || actions.shape(1) != size) {
      throw InputError("step", "actions",
                       "[" + std::to_string(actions.shape(0)) + ", " + std::to_string(actions.shape(1)) + "]",
                       "the shape [" + std::to_string(n) + ", " + std::to_string(size) + "]");
    }
    const std::shared_ptr<OwnRecord> record = envs_.TakeRecord();
    {
      const nb::gil_scoped_release others_run;
      const std::lock_guard one_at_a_time(mutex_);
      envs_.Step({actions.data(), n * size}, *record);
    }
    return Tensors(record);
  }

  int N() const { return envs_.RecordLayout().N(); }
  size_t ActionSize() const { return envs_.Envs().ActionSpec().Elements(); }
  std::vector<std::string> RewardTerms() const { return envs_.Envs().RewardTerms(); }
  std::vector<std::string> Metrics() const { return envs_.Envs().Metrics(); }
  std::vector<std::string> ObjectNames() const { return envs_.Envs().ObjectNames(); }

  // (name, type, shape per environment, unit, scale) of every tensor.
  nb::list Specs() const {
    nb::list specs;
    for (const TensorSpec& spec : envs_.RecordLayout().Specs()) {
      specs.append(
          nb::make_tuple(spec.name, NameOf(spec.dtype), nb::tuple(nb::cast(spec.shape)), spec.unit, spec.scale));
    }
    return specs;
  }

 private:
  // Views of the record, which lives as long as any of them.
  nb::dict Tensors(const std::shared_ptr<OwnRecord>& record) const {
    const nb::capsule owner(new std::shared_ptr<OwnRecord>(record),
                            [](void* held) noexcept { delete static_cast<std::shared_ptr<OwnRecord>*>(held); });
    const Layout& layout = envs_.RecordLayout();
    nb::dict tensors;
    for (size_t i = 0; i < layout.Specs().size(); ++i) {
      const TensorSpec& spec = layout.Specs()[i];
      std::vector<size_t> shape = {static_cast<size_t>(layout.N())};
      shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
      std::byte* const begin = record->Bytes().data() + layout.Offset(static_cast<int>(i));
      tensors[spec.name.c_str()] = Array(begin, shape.size(), shape.data(), owner, nullptr, TypeOf(spec.dtype));
    }
    return tensors;
  }

  LocalEnvs envs_;
  std::mutex mutex_;
};

// What is the user's fault is a ValueError, what went wrong otherwise a RuntimeError, with the command's own words.
void TranslateError(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& input) {
    PyErr_SetString(PyExc_ValueError, input.what());
  }
}

NB_MODULE(_native, module) {
  nb::register_exception_translator(TranslateError);
  nb::class_<NativeEnvs>(module, "NativeEnvs")
      .def(nb::init<const std::string&, const std::vector<std::string>&>(), nb::arg("config"), nb::arg("overrides"))
      .def("reset", &NativeEnvs::Reset, nb::arg("seed").none())
      .def("step", &NativeEnvs::Step, nb::arg("actions"))
      .def_prop_ro("num_envs", &NativeEnvs::N)
      .def_prop_ro("action_size", &NativeEnvs::ActionSize)
      .def_prop_ro("reward_terms", &NativeEnvs::RewardTerms)
      .def_prop_ro("metrics", &NativeEnvs::Metrics)
      .def_prop_ro("object_names", &NativeEnvs::ObjectNames)
      .def_prop_ro("specs", &NativeEnvs::Specs);
}

}  // namespace
}  // namespace gripstream
