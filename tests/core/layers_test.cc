// Tests tools/include_rule.txt: an include that breaks the layering, or a third party used outside its door, fails
// here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = GRIPSTREAM_SOURCE_DIR;

// folder -> folders it may include from.
std::map<std::string, std::set<std::string>> ReadRule() {
  std::map<std::string, std::set<std::string>> rule;
  std::ifstream in(kSource / "tools/include_rule.txt");
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(':');
    std::istringstream rest(line.substr(colon + 1));
    std::set<std::string>& allowed = rule[line.substr(0, colon)];
    for (std::string folder; rest >> folder;) allowed.insert(folder);
    allowed.insert(line.substr(0, colon));
  }
  return rule;
}

// The longest rule folder that holds `path` (so sim_server/render is a layer of its own), or "".
std::string LayerOf(const std::string& path, const std::map<std::string, std::set<std::string>>& rule) {
  std::string best;
  for (const auto& [folder, allowed] : rule) {
    if (path.rfind(folder + "/", 0) == 0 && folder.size() > best.size()) best = folder;
  }
  return best;
}

bool IsSource(const fs::path& path) {
  const std::string extension = path.extension();
  return extension == ".h" || extension == ".cc" || extension == ".cu" || extension == ".cuh";
}

std::vector<fs::path> SourcesOf(const std::string& folder) {
  std::vector<fs::path> sources;
  if (!fs::exists(kSource / folder)) return sources;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
    if (IsSource(entry.path())) sources.push_back(entry.path());
  }
  return sources;
}

std::vector<std::string> IncludesOf(const fs::path& file, char open) {
  std::vector<std::string> includes;
  std::ifstream in(file);
  const std::regex pattern(open == '"' ? "^\\s*#\\s*include\\s*\"([^\"]+)\".*" : "^\\s*#\\s*include\\s*<([^>]+)>.*");
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, pattern)) includes.push_back(match[1]);
  }
  return includes;
}

TEST(Layers, EveryIncludePointsToAnAllowedFolder) {
  const auto rule = ReadRule();
  ASSERT_GE(rule.size(), 10u);
  int checked = 0;
  for (const auto& [folder, allowed] : rule) {
    for (const fs::path& file : SourcesOf(folder)) {
      const std::string relative = fs::relative(file, kSource);
      if (LayerOf(relative, rule) != folder) continue;
      for (const std::string& include : IncludesOf(file, '"')) {
        const std::string target = LayerOf(include, rule);
        EXPECT_FALSE(target.empty()) << relative << " includes \"" << include << "\", which is in no layer";
        EXPECT_TRUE(allowed.count(target)) << relative << " (" << folder << ") may not include " << include;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 10);
}

TEST(Layers, EachThirdPartyHasOneDoor) {
  const std::map<std::string, std::set<std::string>> doors = {
      {"yaml-cpp/", {"core"}},
      {"spdlog/", {"core"}},
      {"tbb/", {"core"}},
      {"openssl/", {"core"}},
      {"zmq", {"wire"}},
      {"nccl", {"wire"}},
      {"lz4", {"wire"}},
      {"zstd", {"wire"}},
      {"mujoco/", {"envs", "sim_server/render"}},
      {"VHACD", {"envs"}},
      {"torch/", {"replay", "policies", "sim_server/acting", "learner", "distill", "deploy", "launch"}},
      {"ATen/", {"replay", "policies", "sim_server/acting", "learner", "distill", "deploy", "launch"}},
      {"opencv2/", {"sim_server/render", "deploy"}},
      {"nanobind/", {"python"}},
  };
  const auto rule = ReadRule();
  for (const auto& [folder, allowed] : rule) {
    for (const fs::path& file : SourcesOf(folder)) {
      const std::string relative = fs::relative(file, kSource);
      if (LayerOf(relative, rule) != folder) continue;
      for (const std::string& include : IncludesOf(file, '<')) {
        for (const auto& [prefix, folders] : doors) {
          if (include.rfind(prefix, 0) == 0) {
            EXPECT_TRUE(folders.count(folder)) << relative << " opens a second door to " << include;
          }
        }
      }
    }
  }
}

}  // namespace
