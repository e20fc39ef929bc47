// Tests envs/library_task.h and task_library.h.
#include "envs/library_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using ::testing::HasSubstr;
using testing::MakeBatch;
using testing::Record;
using testing::SmallTask;
using testing::StepRandomly;

TaskConfig FromLibrary(const char* library, std::vector<std::string> settings = {}) {
  TaskConfig task = SmallTask();
  task.name = "library";
  task.library = library;
  task.settings = std::move(settings);
  return task;
}

TEST(LibraryTask, ThatSaysWhatABuiltInTaskSaysGivesTheSameBits) {
  TaskConfig reach = SmallTask();
  reach.reach = {.weight_distance = 0, .weight_aim = 0, .weight_near = 1, .weight_success = 0, .weight_action_rate = 0};
  const auto built_in = MakeBatch(reach, 4), library = MakeBatch(FromLibrary(GRIPSTREAM_REACH_LIBRARY), 4);
  built_in->Reset({});
  library->Reset({});
  for (int step = 0; step < 30; ++step) {
    const Record a(*built_in), b(*library);
    for (int env = 0; env < 4; ++env) {
      for (const char* name : {"obs.proprio", "state", "reward"}) {
        ASSERT_EQ(a.Get<float>(name, env), b.Get<float>(name, env)) << name << " at step " << step;
      }
      ASSERT_EQ(a.One<uint8_t>("done", env), b.One<uint8_t>("done", env)) << "and memory is remembered";
    }
    StepRandomly(*built_in, 0, step);
    StepRandomly(*library, 0, step);
  }
}

TEST(LibraryTask, TellsOfItselfWhatIsLoggedAndDescribed) {
  const auto envs = MakeBatch(FromLibrary(GRIPSTREAM_PUSH_LIBRARY), 2);
  EXPECT_EQ(envs->RewardTerms(), (std::vector<std::string>{"near_palm", "near_mark", "lifted"}));
  EXPECT_THAT(envs->Metrics(), ::testing::Contains("in_region"));
  EXPECT_EQ(envs->ProprioFields().back().name, "mark");
  EXPECT_EQ(envs->StateFields()[3].unit, "m");
}

TEST(LibraryTask, ItsSettingsReachIt) {
  const auto mark = [](const TaskConfig& task) {
    const auto envs = MakeBatch(task, 1);
    envs->Reset({});
    return Record(*envs).Get<float>("obs.proprio", 0).back();
  };
  EXPECT_EQ(mark(FromLibrary(GRIPSTREAM_PUSH_LIBRARY)), 0.0f);
  EXPECT_EQ(mark(FromLibrary(GRIPSTREAM_PUSH_LIBRARY, {"mark_x=-0.4", "mark_y=0.25"})), 0.25f);
}

std::string RefusalOf(const TaskConfig& task) {
  try {
    MakeLibraryTask(task);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(LibraryTask, BadInputIsNamed) {
  EXPECT_THAT(RefusalOf(FromLibrary("")), HasSubstr("task.library"));
  EXPECT_THAT(RefusalOf(FromLibrary("/nowhere/task.so")), HasSubstr("/nowhere/task.so"));
  EXPECT_THAT(RefusalOf(FromLibrary(GRIPSTREAM_OTHER_INTERFACE)), HasSubstr("interface 1"));
  EXPECT_THAT(RefusalOf(FromLibrary(GRIPSTREAM_NO_TASK)), HasSubstr("GRIPSTREAM_TASK"));
  EXPECT_THAT(RefusalOf(FromLibrary(GRIPSTREAM_PUSH_LIBRARY, {"mark_x=near"})), HasSubstr("mark_x=near"));
  EXPECT_THAT(RefusalOf(FromLibrary(GRIPSTREAM_PUSH_LIBRARY, {"mark_x=0", "wieght=2"})), HasSubstr("wieght=2"));
  TaskConfig reach = SmallTask();
  reach.library = GRIPSTREAM_PUSH_LIBRARY;
  EXPECT_THROW(MakeBatch(reach, 1), InputError);
}

}  // namespace
}  // namespace gripstream
