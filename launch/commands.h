// The subcommands of `gripstream`. Each returns the process exit code and throws InputError / RunError for the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gripstream {

struct TrainArguments {
  std::string config;                  // YAML file; empty with resume
  std::vector<std::string> overrides;  // --set
  std::string resume;                  // run folder to go on with
  std::string trace;                   // file for a trace of all roles; empty: none
  std::vector<std::string> command_line;
};
int TrainCommand(const TrainArguments& arguments);

struct LaunchArguments {
  TrainArguments train;          // the run; trace only with engine local
  std::string engine = "local";  // local (what train does), slurm or mpi
  bool dry_run = false;          // print what would be started, check what can be, start nothing
  bool wait = false;             // slurm: return when the job has ended, with its exit code
};
int LaunchCommand(const LaunchArguments& arguments);

struct PlotArguments {
  std::vector<std::string> runs;  // run folders, or metrics.csv files
  std::vector<std::string> metrics = {"episode/success", "episode/return"};
  std::string axis = "steps";  // steps, iterations or wall
  int smooth = 1;              // iterations that are averaged
  std::string output = "curves.png";
};
int PlotCommand(const PlotArguments& arguments);
// Figures of the runs as a table and keys that differ; curves too unless `output` is empty.
int CompareCommand(const PlotArguments& arguments);

struct TopArguments {
  std::string run;      // run folder
  double period_s = 2;  // between two looks
  bool once = false;    // print one and end
};
int TopCommand(const TopArguments& arguments);

// Prints every key of a run file as Markdown.
int ReferenceCommand();

struct EvalArguments {
  std::string checkpoint;  // a checkpoint file, or a run folder: its newest checkpoint
  std::vector<std::string> overrides;
  std::string json_path;  // also write the figures here
};
int EvalCommand(const EvalArguments& arguments);

struct PlayArguments {
  std::string checkpoint;  // as EvalArguments'
  std::vector<std::string> overrides;
  std::string video;  // MP4; empty: RUN/evaluations/CHECKPOINT.mp4
  int episodes = 4;
  std::string camera;  // empty: the model's overview
  int width_px = 640, height_px = 480;
};
int PlayCommand(const PlayArguments& arguments);

int DescribeCommand(const std::string& config, const std::vector<std::string>& overrides);

struct PlanArguments {
  std::string config;  // YAML file or run folder; empty with measured
  std::vector<std::string> overrides;
  int processes = 0, gpus = 0;     // 0: as many as the configuration has
  std::string memory, gpu_memory;  // of each; empty: a fair share of what there is
  std::string measured;            // file of environment counts (MeasuredCounts) to plan by
};
int PlanCommand(const PlanArguments& arguments);

struct SynergiesArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string output;
  uint64_t seed = 1;
  int components = 5, trials = 12;
};
int SynergiesCommand(const SynergiesArguments& arguments);

struct BenchArguments {
  std::string what;
  double seconds = 1.0;  // per measurement
  std::string json_path, markdown_path;  // files for the rows; empty: none
};
int BenchCommand(const BenchArguments& arguments);

struct TuneArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string output;  // YAML file for the recommended configuration; empty: none
  double seconds = 60;
  int max_staleness = 1;
};
int TuneCommand(const TuneArguments& arguments);

// Without a configuration, of what the defaults need.
int DoctorCommand(const std::string& config, const std::vector<std::string>& overrides);

struct KeygenArguments {
  std::string folder;
  std::string simulator;  // name of one more machine; empty: a learner and the simulators beside it
};
int KeygenCommand(const KeygenArguments& arguments);

}  // namespace gripstream
