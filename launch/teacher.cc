#include "launch/teacher.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "launch/checkpoints.h"
#include "launch/run_folder.h"
#include "learner/run_checkpoint.h"

namespace gripstream {
namespace {

std::string Text(const ObservationField& field) {
  return field.name + " [" + std::to_string(field.size) + "]" + (field.unit.empty() ? "" : " (" + field.unit + ")");
}

// Part by part: the same numbers in another order would be silent nonsense.
void RequireSameFields(const std::string& teacher, const std::string& tensor,
                       const std::vector<ObservationField>& theirs, const std::vector<ObservationField>& ours) {
  for (size_t i = 0; i < std::max(theirs.size(), ours.size()); ++i) {
    const std::string want = i < theirs.size() ? Text(theirs[i]) : "nothing",
                      have = i < ours.size() ? Text(ours[i]) : "nothing";
    if (want != have) {
      throw InputError("configuration", "distill.teacher", teacher,
                       "a teacher of the same observations: part " + std::to_string(i) + " of " + tensor + " is " +
                           have + " here, " + want + " in its run");
    }
  }
}

void RequireSameTensor(const std::string& teacher, const std::string& name, const TaskDescription& theirs,
                       const TaskDescription& ours) {
  const auto text = [&](const TaskDescription& task) {
    const auto found = std::ranges::find_if(task.record, [&](const TensorSpec& spec) { return spec.name == name; });
    return found == task.record.end() ? "not in the record" : found->ToString();
  };
  if (text(theirs) == text(ours)) return;
  throw InputError(
      "configuration", "distill.teacher", teacher,
      "a teacher of the same observations: " + name + " is " + text(ours) + " here, " + text(theirs) + " in its run");
}

// What the teacher's own run found of this very policy.
void AddJudgement(const std::string& run_dir, Teacher& teacher) {
  std::ifstream in(run_dir + "/results.json");
  const nlohmann::json results = nlohmann::json::parse(in, nullptr, false);
  if (!results.is_object() || !results.contains("return") || !results["return"].is_number()) return;
  if (results.value("parameters_sha256", "") != ParametersSha256(teacher.policy.Network().Parameters())) return;
  if (results.value("episodes", 0) == 0) return;  // interrupted before it was evaluated
  teacher.judged = true;
  teacher.recorded_return = results["return"];
}

}  // namespace

Teacher LoadTeacher(const RunConfig& config, const TaskDescription& task) {
  const auto [file, run_dir] = LocateCheckpoint(config.distill.teacher);
  RunConfig theirs = OpenRunFolder(run_dir, {});
  theirs.policy.inference_chunk = config.policy.inference_chunk;  // this run's groups are of whole chunks
  const TaskDescription taught = DescribeTask(theirs);
  const std::string& name = config.distill.teacher;
  if (theirs.policy.ActorReadsState()) {
    RequireSameFields(name, kStateTensor, taught.state, task.state);
  } else {
    RequireSameFields(name, kProprioTensor, taught.proprio, task.proprio);
  }
  if (theirs.policy.name != "state_mlp") {
    RequireSameTensor(name, theirs.policy.name == "rgb" ? kRgbTensor : kDepthTensor, taught, task);
  }
  if (taught.action.ToString() != task.action.ToString()) {
    throw InputError("configuration", "distill.teacher", name,
                     "a teacher whose action is " + task.action.ToString() + "; its is " + taught.action.ToString());
  }
  const PolicyShapes shapes = ShapesFromSpecs(taught.record, static_cast<int>(taught.action.Elements()));
  Teacher teacher{.policy = Policy(theirs.policy, shapes, theirs.run.seed), .name = file};
  RestorePolicy(LoadCheckpoint(file), file, teacher.policy);
  AddJudgement(run_dir, teacher);
  return teacher;
}

}  // namespace gripstream
