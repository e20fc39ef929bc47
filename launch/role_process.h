// One role of a run as a process that may have to be started more than once, and the parts of a trace that it leaves.
//
// One thread, the main one (launch/child.h). Throws RunError when a program cannot be started.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "launch/child.h"
#include "launch/role_plan.h"

namespace gripstream {

// Each role's part of a trace, on its way into one file.
class TraceParts {
 public:
  // No `trace`: none is wanted.
  TraceParts(const std::string& run_dir, std::string trace);
  // One more process writes a part.
  void AddTo(std::vector<std::string>& arguments);
  // Of those that lived to write theirs.
  void Merge() const;

 private:
  std::string folder_, trace_;
  std::vector<std::string> parts_;
};

class RoleProcess {
 public:
  // Starts it. `traces` must outlive this object.
  RoleProcess(RoleCommand command, TraceParts& traces);

  Child& Process() { return *child_; }
  const Child& Process() const { return *child_; }
  // Whether it may be started once more within an hour, when `limit` times are allowed. Counts the times.
  bool MayStartAgain(int limit);
  // How often it was started again within the last hour.
  int StartedAgain() const { return static_cast<int>(again_.size()); }
  // Starts it again, with `more` behind its arguments. The old process must have ended.
  void StartAgain(const std::vector<std::string>& more);

 private:
  void Start(std::vector<std::string> argv);

  RoleCommand command_;
  TraceParts& traces_;
  std::unique_ptr<Child> child_;
  std::deque<std::chrono::steady_clock::time_point> again_;
};

}  // namespace gripstream
