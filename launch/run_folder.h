// The folder that holds everything one run leaves: configuration, provenance, logs, metrics, checkpoints, results.
//
//   RUN/config.yaml        resolved configuration, reads back as it is
//   RUN/provenance.json    versions, seed, revision, machine, command line
//   RUN/footprints.json    what its roles were measured to take, where they were
//   RUN/logs/              one file per role
//   RUN/metrics.csv, RUN/tensorboard/
//   RUN/checkpoints/       iteration_000010.safetensors ..., best.safetensors
//   RUN/results.json, RUN/evaluation.png
#pragma once

#include <string>
#include <vector>

#include "launch/run_config.h"

namespace gripstream {

// Makes the folder of a new run and writes config.yaml and provenance.json; fills in config.run.dir when empty.
// Throws InputError when the folder already holds a run or cannot be made.
void CreateRunFolder(RunConfig& config, const std::string& config_path, const std::vector<std::string>& command_line);

// Adds a resume to the provenance and makes config.yaml say what is run from now on.
void RecordResume(const RunConfig& config, const std::vector<std::string>& command_line);

// Whether the run in this folder has not yet left a checkpoint.
bool IsUnusedRunFolder(const std::string& run_dir);
// Removes what CreateRunFolder made of an unused run folder; anything else stays.
void RemoveUnusedRunFolder(const std::string& run_dir);

// The configuration of an existing run (a run folder), with overrides. Throws InputError when it is no run folder.
RunConfig OpenRunFolder(const std::string& run_dir, const std::vector<std::string>& overrides);

}  // namespace gripstream
