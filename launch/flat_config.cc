#include "launch/flat_config.h"

#include <cstdio>

namespace gripstream {
namespace {

std::string Text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}
std::string Text(int value) {
  return std::to_string(value);
}
std::string Text(const std::string& value) {
  return value;
}

template <class T>
std::string List(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? ", " : "") + Text(value);
  return text + "]";
}

class Flattener : public FieldVisitor {
 public:
  void Int(std::string_view key, int& value, const FieldDoc&, IntRange) override { Add(key, Text(value)); }
  void Uint64(std::string_view key, uint64_t& value, const FieldDoc&) override { Add(key, std::to_string(value)); }
  void Float(std::string_view key, double& value, const FieldDoc&, FloatRange) override { Add(key, Text(value)); }
  void Bool(std::string_view key, bool& value, const FieldDoc&) override { Add(key, value ? "true" : "false"); }
  void String(std::string_view key, std::string& value, const FieldDoc&) override { Add(key, value); }
  void Choice(std::string_view key, std::string& value, const std::vector<std::string>&, const FieldDoc&) override {
    Add(key, value);
  }
  void Floats(std::string_view key, std::vector<double>& value, size_t, const FieldDoc&, FloatRange) override {
    Add(key, List(value));
  }
  void Ints(std::string_view key, std::vector<int>& value, size_t, const FieldDoc&, IntRange) override {
    Add(key, List(value));
  }
  void Strings(std::string_view key, std::vector<std::string>& value, const FieldDoc&) override {
    Add(key, List(value));
  }
  std::map<std::string, std::string> flat;

 protected:
  void BeginGroup(std::string_view key, std::string_view) override {
    prefixes_.push_back(prefixes_.back() + std::string(key) + ".");
  }
  void EndGroup() override { prefixes_.pop_back(); }

 private:
  void Add(std::string_view key, const std::string& value) { flat[prefixes_.back() + std::string(key)] = value; }
  std::vector<std::string> prefixes_ = {""};
};

}  // namespace

std::map<std::string, std::string> FlatConfig(const RunConfig& config) {
  RunConfig copy = config;
  Flattener flattener;
  copy.Fields(flattener);
  return flattener.flat;
}

}  // namespace gripstream
