// The learner role as both of its programs run it: gripstream-learner (simulators are other processes) and
// gripstream-single (one simulator in a thread of this process).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/memory_budget.h"
#include "launch/run_config.h"
#include "learner/role.h"

namespace gripstream {

struct LearnerArguments {
  std::string path;  // run folder or configuration
  std::vector<std::string> overrides;
  std::string resume;    // checkpoint file to go on from
  std::string evaluate;  // checkpoint file to evaluate instead of training
  std::string json_path;
  FilmOptions film;           // with evaluate: only this
  std::string trace;          // file for this process's part of a trace; empty: none
  int rank = 0;               // of learner.processes; 0 leads
  std::string footprint;      // only measure what a learner takes, and write it to this file
  std::string planned;        // what its starter knows about the run's memory (launch/memory_check.h)
  bool float_images = false;  // hold images as float32: for gripstream bench capacity
  std::vector<std::string> command_line;
};

// Reads the command line; returns false when help was asked for and printed.
bool ParseLearnerArguments(int argc, char** argv, LearnerArguments& arguments);

// Measures what a learner of this configuration takes and writes it, for plans.
int WriteLearnerFootprint(const RunConfig& config, const std::string& path);

// Finds the other learners, listens for the simulators, then trains or evaluates. `start_simulators` is called once the
// learner listens, with the plan of a simulator in this process.
int RunLearnerRole(const RunConfig& config, const LearnerArguments& arguments,
                   const std::function<void(const MemoryBudget&)>& start_simulators);

}  // namespace gripstream
