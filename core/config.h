// Strict, typed configuration: plain structs describe their own fields once, and reading, writing and documentation
// all come from that one description.
//
//   struct SimConfig {
//     int envs = 256;
//     void Fields(FieldVisitor& v) { v.Int("envs", envs, {.doc = "environments per process"}, {1, 65536}); }
//   };
//   SimConfig config;
//   ConfigFile file("run.yaml", {"sim.envs=64"});   // YAML text plus --set overrides
//   file.Read(config);                              // InputError on an unknown key, a wrong type, a value out of range
//
// The only door to yaml-cpp. Not thread-safe; values are copied into the structs, nothing refers to the file
// afterwards.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gripstream {

// What a reader of the configuration reference needs to know about one field.
struct FieldDoc {
  std::string_view doc;
  std::string_view unit = "";
  bool required = false;
};

struct IntRange {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};

struct FloatRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

// Visits the fields of a configuration struct in declaration order. A reader changes the values, others only look.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void Int(std::string_view key, int& value, const FieldDoc& doc, IntRange range = {}) = 0;
  virtual void Uint64(std::string_view key, uint64_t& value, const FieldDoc& doc) = 0;
  virtual void Float(std::string_view key, double& value, const FieldDoc& doc, FloatRange range = {}) = 0;
  virtual void Bool(std::string_view key, bool& value, const FieldDoc& doc) = 0;
  virtual void String(std::string_view key, std::string& value, const FieldDoc& doc) = 0;
  // One of `choices`; kept as its text.
  virtual void Choice(std::string_view key, std::string& value, const std::vector<std::string>& choices,
                      const FieldDoc& doc) = 0;
  // `size` is the exact length wanted, 0 for any.
  virtual void Floats(std::string_view key, std::vector<double>& value, size_t size, const FieldDoc& doc,
                      FloatRange range = {}) = 0;
  virtual void Ints(std::string_view key, std::vector<int>& value, size_t size, const FieldDoc& doc,
                    IntRange range = {}) = 0;
  virtual void Strings(std::string_view key, std::vector<std::string>& value, const FieldDoc& doc) = 0;
  // A nested struct with a Fields method of its own.
  template <class Struct>
  void Group(std::string_view key, Struct& value, std::string_view doc) {
    BeginGroup(key, doc);
    value.Fields(*this);
    EndGroup();
  }

 protected:
  virtual void BeginGroup(std::string_view key, std::string_view doc) = 0;
  virtual void EndGroup() = 0;
};

// A YAML file with `key=value` overrides laid over it.
class ConfigFile {
 public:
  // Throws InputError when the file cannot be read, is not YAML, repeats a key, or an override is malformed.
  ConfigFile(const std::string& path, const std::vector<std::string>& overrides);
  // The same from text; `name` stands for the file in messages.
  static ConfigFile FromText(const std::string& text, const std::string& name,
                             const std::vector<std::string>& overrides = {});
  ~ConfigFile();
  ConfigFile(ConfigFile&&) noexcept;

  template <class Struct>
  void Read(Struct& value) const {
    const std::unique_ptr<FieldVisitor> reader = MakeReader();
    value.Fields(*reader);
    FinishReading(*reader);
  }

  const std::string& Name() const { return name_; }

 private:
  struct Document;
  ConfigFile(std::string name, std::unique_ptr<Document> document);
  std::unique_ptr<FieldVisitor> MakeReader() const;
  void FinishReading(FieldVisitor& reader) const;  // unknown keys

  std::string name_;
  std::unique_ptr<Document> document_;
};

std::unique_ptr<FieldVisitor> MakeYamlWriter(std::string& out);
std::unique_ptr<FieldVisitor> MakeReferenceWriter(std::string& out);

// The struct as YAML text that reads back to the same values.
template <class Struct>
std::string ToYaml(Struct value) {
  std::string text;
  value.Fields(*MakeYamlWriter(text));
  return text;
}

// One Markdown table row per field: key, type, unit, default, range, meaning.
template <class Struct>
std::string ToReference(Struct defaults) {
  std::string text;
  defaults.Fields(*MakeReferenceWriter(text));
  return text;
}

// The candidate nearest to `name` by edit distance, or "" when none is near enough to be a likely typing error.
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gripstream
