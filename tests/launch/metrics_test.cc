// Tests docs/metrics.md: it names what runs write, and nothing else.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

// The names in the first column of the page's tables.
std::set<std::string> Documented() {
  std::ifstream page(std::string(GRIPSTREAM_SOURCE_DIR) + "/docs/metrics.md");
  std::set<std::string> names;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | ", 2));
    const std::regex name("`([^`]+)`");
    for (std::sregex_iterator it(cell.begin(), cell.end(), name), end; it != end; ++it) names.insert((*it)[1]);
  }
  return names;
}

// A metric as the page names it: those that a task or network names are NAME.
std::string PageName(const std::string& metric) {
  for (const char* group : {"reward/", "metric/", "grad_norm/", "curriculum/"}) {
    if (metric.starts_with(group)) return std::string(group) + "NAME";
  }
  return metric;
}

void AddWritten(const std::string& run, std::set<std::string>& written) {
  std::ifstream csv(run + "/metrics.csv");
  std::string header, name;
  std::getline(csv, header);
  for (std::istringstream names(header); std::getline(names, name, ',');) written.insert(PageName(name));
  const nlohmann::json results = ReadJson(run + "/results.json");
  for (const auto& item : results.items()) written.insert(item.key());
}

TEST(MetricsPage, NamesWhatRunsWriteAndNothingElse) {
  const ScratchFolder folder;
  const std::vector<std::string> short_run = {"train.iterations=1", "eval.sheet_rows=0", "eval.at_start=false"};
  std::vector<std::string> grasp = short_run;
  grasp.insert(grasp.end(), {"task.name=grasp", "task.objects=[cube_50]"});
  Ended ended = RunGripstream(TinyRun(folder / "grasp", grasp));
  ASSERT_EQ(ended.code, 0) << ended.output;
  std::vector<std::string> student = TinyRun(folder / "student", short_run);
  student.front() = "distill";
  student.insert(student.end(),
                 {"--teacher", folder / "grasp", "--set", "task.name=grasp", "--set", "task.objects=[cube_50]"});
  ended = RunGripstream(student);
  ASSERT_EQ(ended.code, 0) << ended.output;
  std::set<std::string> written;
  AddWritten(folder / "grasp", written);
  AddWritten(folder / "student", written);
  EXPECT_EQ(Documented(), written);
}

}  // namespace
}  // namespace gripstream
