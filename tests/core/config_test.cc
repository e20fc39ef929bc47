// Tests core/config.h.
#include "core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

struct Inner {
  double rate_hz = 60;
  std::string mode = "fast";
  void Fields(FieldVisitor& v) {
    v.Float("rate_hz", rate_hz, {.doc = "control rate", .unit = "Hz"}, {1, 1000});
    v.Choice("mode", mode, {"fast", "exact"}, {.doc = "how"});
  }
};

struct Outer {
  int envs = 8;
  uint64_t seed = 1;
  bool on = false;
  std::string label;
  std::vector<double> range = {0, 1};
  std::vector<int> sizes = {3};
  std::vector<std::string> names;
  Inner inner;
  void Fields(FieldVisitor& v) {
    v.Int("envs", envs, {.doc = "environments"}, {1, 100});
    v.Uint64("seed", seed, {.doc = "seed"});
    v.Bool("on", on, {.doc = "switch"});
    v.String("label", label, {.doc = "text"});
    v.Floats("range", range, 2, {.doc = "low and high"});
    v.Ints("sizes", sizes, 0, {.doc = "layer sizes"}, {1, 4096});
    v.Strings("names", names, {.doc = "names"});
    v.Group("inner", inner, "a nested group");
  }
};

Outer Parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Outer config;
  ConfigFile::FromText(text, "test.yaml", overrides).Read(config);
  return config;
}

std::string Refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    Parse(text, overrides);
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "accepted";
}

TEST(Config, KeepsDefaultsForKeysThatAreNotGiven) {
  const Outer config = Parse("envs: 5");
  EXPECT_EQ(config.envs, 5);
  EXPECT_EQ(config.inner.rate_hz, 60);
}

TEST(Config, AnEmptyFileIsAllDefaults) {
  EXPECT_EQ(Parse("").envs, 8);
}

TEST(Config, ReadsEveryKindOfField) {
  const Outer config = Parse(
      "{envs: 7, seed: 18446744073709551615, on: true, label: a b, range: [-1, 2.5], sizes: [4, 5], names: [x, y],"
      " inner: {rate_hz: 1e2, mode: exact}}");
  EXPECT_EQ(config.seed, 18446744073709551615u);
  EXPECT_TRUE(config.on);
  EXPECT_EQ(config.label, "a b");
  EXPECT_EQ(config.range, (std::vector<double>{-1, 2.5}));
  EXPECT_EQ(config.sizes, (std::vector<int>{4, 5}));
  EXPECT_EQ(config.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(config.inner.rate_hz, 100);
  EXPECT_EQ(config.inner.mode, "exact");
}

TEST(Config, OverridesWinAndMayNameGroupsThatTheFileLacks) {
  const Outer config = Parse("envs: 5", {"envs=9", "inner.mode=exact", "range=[3, 4]"});
  EXPECT_EQ(config.envs, 9);
  EXPECT_EQ(config.inner.mode, "exact");
  EXPECT_EQ(config.range[1], 4);
}

TEST(Config, RefusalsNameFileKeyValueAndWhatWasExpected) {
  EXPECT_EQ(Refusal("envs: many"), "test.yaml: envs: got 'many', expected an integer from 1 to 100");
  EXPECT_EQ(Refusal("envs: 101"), "test.yaml: envs: got '101', expected an integer from 1 to 100");
  EXPECT_EQ(Refusal("envs: 2.5"), "test.yaml: envs: got '2.5', expected an integer from 1 to 100");
  EXPECT_EQ(Refusal("envs: 99999999999999"),
            "test.yaml: envs: got '99999999999999', expected an integer from 1 to 100");
  EXPECT_EQ(Refusal("seed: -1"), "test.yaml: seed: got '-1', expected an integer of at least 0");
  EXPECT_EQ(Refusal("on: perhaps"), "test.yaml: on: got 'perhaps', expected true or false");
  EXPECT_EQ(Refusal("inner: {mode: slow}"), "test.yaml: inner.mode: got 'slow', expected one of fast exact");
  EXPECT_EQ(Refusal("inner: {rate_hz: .nan}"),
            "test.yaml: inner.rate_hz: got '.nan', expected a number from 1 to 1000");
  EXPECT_EQ(Refusal("range: [1]"), "test.yaml: range: got '[1]', expected a list of 2 numbers");
  EXPECT_EQ(Refusal("sizes: 3"), "test.yaml: sizes: got '3', expected a list of integers from 1 to 4096");
  EXPECT_EQ(Refusal("inner: 3"), "test.yaml: inner: got '3', expected a group of keys");
  EXPECT_EQ(Refusal("label: [a]"), "test.yaml: label: got '[a]', expected text");
}

TEST(Config, AnUnknownKeyIsRefusedWithTheNearestKnownOne) {
  EXPECT_EQ(Refusal("evns: 3"), "test.yaml: unknown key 'evns'; did you mean 'envs'?");
  EXPECT_EQ(Refusal("inner: {rate: 3}"), "test.yaml: unknown key 'inner.rate'; did you mean 'inner.rate_hz'?");
  EXPECT_EQ(Refusal("completely_else: 3"), "test.yaml: unknown key 'completely_else'");
}

TEST(Config, AWrongOverrideIsBlamedOnTheOption) {
  EXPECT_EQ(Refusal("", {"envs=0"}), "--set: envs: got '0', expected an integer from 1 to 100");
  EXPECT_EQ(Refusal("", {"evns=1"}), "--set: unknown key 'evns'; did you mean 'envs'?");
  EXPECT_EQ(Refusal("", {"envs"}), "--set: got 'envs', expected key=value");
  EXPECT_THAT(Refusal("envs: 3", {"envs.x=1"}), HasSubstr("--set: got 'envs.x=1'"));
}

TEST(Config, ARepeatedKeyIsRefused) {
  EXPECT_EQ(Refusal("envs: 3\nenvs: 4"), "test.yaml: key 'envs' is given twice");
  EXPECT_EQ(Refusal("inner: {mode: fast, mode: exact}"), "test.yaml: key 'inner.mode' is given twice");
}

TEST(Config, TextThatIsNotAMapOrNotYamlIsRefused) {
  EXPECT_THAT(Refusal("- 1\n- 2"), HasSubstr("expected a group of keys"));
  EXPECT_THAT(Refusal("envs: [1"), HasSubstr("test.yaml: not valid YAML"));
  EXPECT_THAT(Refusal("just words"), HasSubstr("expected a group of keys"));
}

TEST(Config, AMissingFileIsNamed) {
  try {
    ConfigFile("no/such/file.yaml", std::vector<std::string>{});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no/such/file.yaml: cannot be read"));
  }
}

struct WithRequired {
  std::string model;
  void Fields(FieldVisitor& v) { v.String("model", model, {.doc = "MJCF file", .required = true}); }
};

TEST(Config, AMissingRequiredKeyIsNamedWithItsMeaning) {
  WithRequired config;
  try {
    ConfigFile::FromText("{}", "test.yaml").Read(config);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "test.yaml: key 'model' is missing; it is needed: MJCF file");
  }
}

TEST(Config, WhatIsWrittenReadsBackTheSame) {
  Outer config = Parse("{label: 'yes: # no', range: [0.1, 1e-9], seed: 18446744073709551615, names: [a, 'b c']}");
  const Outer again = Parse(ToYaml(config));
  EXPECT_EQ(again.label, config.label);
  EXPECT_EQ(again.range, config.range);
  EXPECT_EQ(again.seed, config.seed);
  EXPECT_EQ(again.names, config.names);
  EXPECT_EQ(ToYaml(again), ToYaml(config));
}

TEST(Config, TheReferenceHasARowForEveryField) {
  const std::string reference = ToReference(Outer{});
  for (const char* key : {"`envs`", "`seed`", "`on`", "`label`", "`range`", "`sizes`", "`names`", "`inner.rate_hz`"}) {
    EXPECT_THAT(reference, HasSubstr(key));
  }
  EXPECT_THAT(reference, HasSubstr("| `inner.rate_hz` | number | Hz | `60` | 1 .. 1000 | control rate |"));
}

TEST(NearestName, FindsTypingErrorsAndNothingElse) {
  EXPECT_EQ(NearestName("iiwa7_act_8", {"iiwa7_act_1", "index_act_0"}), "iiwa7_act_1");
  EXPECT_EQ(NearestName("plam", {"palm", "goal"}), "palm");
  EXPECT_EQ(NearestName("gripper", {"palm", "goal"}), "");
}

}  // namespace
}  // namespace gripstream
