#include "learner/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/progress.h"
#include "core/statistics.h"

namespace gripstream {
namespace {

template <class... Arguments>
std::string Format(const char* format, Arguments... arguments) {
  char text[512];
  std::snprintf(text, sizeof(text), format, arguments...);
  return text;
}

std::string ObjectName(int id, const std::vector<std::string>& names) {
  return id >= 0 && static_cast<size_t>(id) < names.size() ? names[static_cast<size_t>(id)] : "model's own";
}

// One line per object: name, episodes, success.
std::string FormatObjects(const EvaluationResult& result, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& [id, object] : result.objects) {
    text += Format("    %-20s %4d of %4d  %5.1f %%\n", ObjectName(id, names).c_str(), object.successes, object.episodes,
                   100.0 * object.successes / object.episodes);
  }
  return text;
}

nlohmann::json SuccessOrNull(const EvaluationResult& result) {
  return result.episodes > 0 ? nlohmann::json(result.Success()) : nlohmann::json();
}

nlohmann::json IntervalOrNull(const EvaluationResult& result) {
  if (result.episodes == 0) return nullptr;
  const auto [low, high] = WilsonInterval(result.successes, result.episodes);
  return {low, high};
}

void AddDetails(nlohmann::ordered_json& json, const EvaluationResult& result, const std::vector<std::string>& names) {
  for (const auto& [id, object] : result.objects) {
    json["objects"][ObjectName(id, names)] = {{"episodes", object.episodes}, {"successes", object.successes}};
  }
  for (const auto& [name, value] : result.metrics_at_end) json["metrics_at_end"][name] = value;
  for (const auto& [name, episodes] : result.failures) json["failures"][name] = episodes;
}

}  // namespace

Metrics IterationTimes::AsMetrics() const {
  const CollectTimes& collect = rollout.times;
  return {{"time/physics_s", collect.physics_s},
          {"time/observe_s", collect.observe_s},
          {"time/render_s", collect.render_s},
          {"time/wire_s", collect.wire_s},
          {"time/inference_s", collect.inference_s},
          {"time/wait_s", collect.wait_s},
          {"time/publish_lag_s", rollout.publish_lag_s},
          {"time/pace_wait_s", rollout.pace_wait_s},
          {"time/learner_wait_s", rollout.learner_wait_s},
          {"time/update_s", update_s},
          {"time/iteration_s", total_s}};
}

std::string FormatProgress(const ProgressFigures& figures, const IterationTimes& times) {
  const double total = std::max(times.total_s, 1e-9);
  const auto percent = [&](double seconds) { return 100 * seconds / total; };
  const CollectTimes& collect = times.rollout.times;
  std::string text =
      Format("iteration %ld/%ld  ", static_cast<long>(figures.iteration), static_cast<long>(figures.iterations));
  text += FormatCount(figures.env_steps) + " steps  " + FormatCount(figures.env_steps_per_s) + " steps/s";
  text += figures.any_episode ? Format("  return %.2f  success %.1f %%", figures.episode_return, 100 * figures.success)
                              : std::string("  no episode has ended yet");
  text += "  ETA " + FormatDuration(figures.eta_s);
  return text + Format("  [sim %.0f%% render %.0f%% wire %.0f%% inference %.0f%% update %.0f%%]",
                       percent(collect.physics_s + collect.observe_s), percent(collect.render_s),
                       percent(collect.wire_s), percent(collect.inference_s), percent(times.update_s));
}

std::string FormatSuccess(const EvaluationResult& result) {
  const auto [low, high] = WilsonInterval(result.successes, result.episodes);
  return Format("success %.1f %% (95 %% interval %.1f to %.1f, %d episodes), return %.2f", 100 * result.Success(),
                100 * low, 100 * high, result.episodes, result.return_mean);
}

std::string FormatEvaluation(const EvaluationResult& result, const std::vector<std::string>& names) {
  std::string text = FormatSuccess(result) + "\n" + FormatObjects(result, names);
  if (!result.metrics_at_end.empty()) text += "    at the end of an episode:";
  for (const auto& [name, value] : result.metrics_at_end) text += Format(" %s %.3f", name.c_str(), value);
  if (!result.metrics_at_end.empty()) text += "\n";
  for (const auto& [name, episodes] : result.failures) {
    if (episodes > 0)
      text += Format("    failed: %-24s %4d  %5.1f %%\n", name.c_str(), episodes, 100.0 * episodes / result.episodes);
  }
  return text;
}

std::string FormatOutcome(const RunResults& results, const std::string& run_dir,
                          const std::vector<std::string>& object_names) {
  std::string text = results.status + (results.stop_reason.empty() ? "" : " (" + results.stop_reason + ")") +
                     " after " + std::to_string(results.iterations) + " iterations, " +
                     FormatCount(static_cast<double>(results.env_steps)) + " steps";
  text += results.wall_s > 0 ? ", " + FormatDuration(results.wall_s) + "\n" : "\n";
  if (results.final_evaluation.episodes > 0) {
    text += FormatEvaluation(results.final_evaluation, object_names);
    if (!results.sheet.empty()) text += "episodes in pictures: " + results.sheet + "\n";
  }
  if (results.blank_image.episodes > 0) {
    text += "with the image blanked: " + FormatSuccess(results.blank_image) + "\n";
  }
  if (results.held_out.episodes > 0) {
    text += "held-out objects: " + FormatEvaluation(results.held_out, object_names);
  }
  if (results.faults > 0) {
    text += "quarantined: " + std::to_string(results.faults) + " environment steps went wrong in the physics (see " +
            run_dir + "/logs)\n";
  }
  if (results.lost_simulators > 0) {
    text += "simulators lost on the way: " + std::to_string(results.lost_simulators) +
            ", replaced: " + std::to_string(results.replacements) +
            "; samples lost with them: " + std::to_string(results.lost_samples) + "\n";
  }
  return text + "run folder: " + run_dir + "\n";
}

void WriteResults(const std::string& path, const RunResults& results, const std::vector<std::string>& object_names) {
  nlohmann::ordered_json json;
  json["status"] = results.status;
  json["stop_reason"] = results.stop_reason;
  json["parameters_sha256"] = results.parameters_sha256;
  json["env_steps"] = results.env_steps;
  json["iterations"] = results.iterations;
  json["wall_s"] = results.wall_s;
  json["faults"] = results.faults;
  json["lost_simulators"] = results.lost_simulators;
  json["replacements"] = results.replacements;
  json["lost_samples"] = results.lost_samples;
  json["success"] = SuccessOrNull(results.final_evaluation);
  json["success_ci95"] = IntervalOrNull(results.final_evaluation);
  json["success_at_start"] = SuccessOrNull(results.at_start);
  json["success_blank_image"] = SuccessOrNull(results.blank_image);
  json["success_held_out"] = SuccessOrNull(results.held_out);
  json["episodes"] = results.final_evaluation.episodes;
  json["return"] = results.final_evaluation.return_mean;
  AddDetails(json, results.final_evaluation, object_names);
  if (results.held_out.episodes > 0) {
    json["held_out"] = {{"episodes", results.held_out.episodes}, {"success_ci95", IntervalOrNull(results.held_out)}};
    AddDetails(json["held_out"], results.held_out, object_names);
  }
  WriteFileAtomically(path, json.dump(2) + "\n");
}

}  // namespace gripstream
