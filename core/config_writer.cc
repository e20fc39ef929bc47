// The two visitors that only look: YAML text (resolved configuration) and the Markdown reference.
#include <yaml-cpp/yaml.h>

#include <charconv>

#include "core/config.h"

namespace gripstream {
namespace {

// The fewest digits that read back to the same number.
template <class T>
std::string FormatShortest(T value) {
  char text[32];
  const std::to_chars_result result = std::to_chars(text, text + sizeof(text), value);
  return {text, result.ptr};
}

class YamlWriter : public FieldVisitor {
 public:
  explicit YamlWriter(std::string& out) : out_(out) { emitter_ << YAML::BeginMap; }
  ~YamlWriter() override {
    emitter_ << YAML::EndMap;
    out_ = std::string(emitter_.c_str()) + "\n";
  }
  void Int(std::string_view key, int& value, const FieldDoc&, IntRange) override { Put(key, value); }
  void Uint64(std::string_view key, uint64_t& value, const FieldDoc&) override { Put(key, value); }
  void Float(std::string_view key, double& value, const FieldDoc&, FloatRange) override {
    Put(key, FormatShortest(value));
  }
  void Bool(std::string_view key, bool& value, const FieldDoc&) override { Put(key, value); }
  void String(std::string_view key, std::string& value, const FieldDoc&) override {
    emitter_ << YAML::Key << std::string(key) << YAML::Value << YAML::DoubleQuoted << value;
  }
  void Choice(std::string_view key, std::string& value, const std::vector<std::string>&, const FieldDoc&) override {
    Put(key, value);
  }
  void Floats(std::string_view key, std::vector<double>& value, size_t, const FieldDoc&, FloatRange) override {
    emitter_ << YAML::Key << std::string(key) << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const double x : value) emitter_ << FormatShortest(x);
    emitter_ << YAML::EndSeq;
  }
  void Ints(std::string_view key, std::vector<int>& value, size_t, const FieldDoc&, IntRange) override {
    emitter_ << YAML::Key << std::string(key) << YAML::Value << YAML::Flow << value;
  }
  void Strings(std::string_view key, std::vector<std::string>& value, const FieldDoc&) override {
    emitter_ << YAML::Key << std::string(key) << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::string& text : value) emitter_ << YAML::DoubleQuoted << text;
    emitter_ << YAML::EndSeq;
  }

 protected:
  void BeginGroup(std::string_view key, std::string_view) override {
    emitter_ << YAML::Key << std::string(key) << YAML::Value << YAML::BeginMap;
  }
  void EndGroup() override { emitter_ << YAML::EndMap; }

 private:
  template <class T>
  void Put(std::string_view key, const T& value) {
    emitter_ << YAML::Key << std::string(key) << YAML::Value << value;
  }
  std::string& out_;
  YAML::Emitter emitter_;
};

class ReferenceWriter : public FieldVisitor {
 public:
  explicit ReferenceWriter(std::string& out) : out_(out) {}
  void Int(std::string_view key, int& value, const FieldDoc& doc, IntRange range) override {
    Row(key, "integer", std::to_string(value), Range(range.min, range.max), doc);
  }
  void Uint64(std::string_view key, uint64_t& value, const FieldDoc& doc) override {
    Row(key, "integer", std::to_string(value), "0 ..", doc);
  }
  void Float(std::string_view key, double& value, const FieldDoc& doc, FloatRange range) override {
    Row(key, "number", FormatShortest(value), Range(range.min, range.max), doc);
  }
  void Bool(std::string_view key, bool& value, const FieldDoc& doc) override {
    Row(key, "boolean", value ? "true" : "false", "", doc);
  }
  void String(std::string_view key, std::string& value, const FieldDoc& doc) override {
    Row(key, "text", value, "", doc);
  }
  void Choice(std::string_view key, std::string& value, const std::vector<std::string>& choices,
              const FieldDoc& doc) override {
    std::string all;
    for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
    Row(key, "choice", value, all, doc);
  }
  void Floats(std::string_view key, std::vector<double>& value, size_t size, const FieldDoc& doc,
              FloatRange range) override {
    Row(key, ListType("numbers", size), List(value), Range(range.min, range.max), doc);
  }
  void Ints(std::string_view key, std::vector<int>& value, size_t size, const FieldDoc& doc, IntRange range) override {
    Row(key, ListType("integers", size), List(value), Range(range.min, range.max), doc);
  }
  void Strings(std::string_view key, std::vector<std::string>& value, const FieldDoc& doc) override {
    std::string text;
    for (const std::string& item : value) text += (text.empty() ? "" : ", ") + item;
    Row(key, "texts", "[" + text + "]", "", doc);
  }

 protected:
  void BeginGroup(std::string_view key, std::string_view doc) override {
    prefixes_.push_back((prefixes_.empty() ? "" : prefixes_.back()) + std::string(key) + ".");
    out_ += "| **" + prefixes_.back() + "** | | | | | " + std::string(doc) + " |\n";
  }
  void EndGroup() override { prefixes_.pop_back(); }

 private:
  template <class T>
  static std::string Range(T min, T max) {
    const bool has_min = static_cast<double>(min) > -9e18, has_max = static_cast<double>(max) < 9e18;
    if (!has_min && !has_max) return "";
    return (has_min ? FormatShortest(min) : std::string()) + " .. " + (has_max ? FormatShortest(max) : std::string());
  }
  template <class T>
  static std::string List(const std::vector<T>& values) {
    std::string text;
    for (const T x : values) text += (text.empty() ? "" : ", ") + FormatShortest(x);
    return "[" + text + "]";
  }
  static std::string ListType(const std::string& kind, size_t size) {
    return size ? std::to_string(size) + " " + kind : kind;
  }
  void Row(std::string_view key, const std::string& type, const std::string& value, const std::string& range,
           const FieldDoc& doc) {
    const std::string usual = doc.required ? "required" : value.empty() ? "" : "`" + value + "`";
    out_ += "| `" + (prefixes_.empty() ? "" : prefixes_.back()) + std::string(key) + "` | " + type + " | " +
            std::string(doc.unit) + " | " + usual + " | " + range + " | " + Escaped(doc.doc) + " |\n";
  }
  // What Markdown would take for a column's end or a tag.
  static std::string Escaped(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '|' || c == '<') escaped += '\\';
      escaped += c;
    }
    return escaped;
  }
  std::string& out_;
  std::vector<std::string> prefixes_;
};

}  // namespace

std::unique_ptr<FieldVisitor> MakeYamlWriter(std::string& out) {
  return std::make_unique<YamlWriter>(out);
}
std::unique_ptr<FieldVisitor> MakeReferenceWriter(std::string& out) {
  return std::make_unique<ReferenceWriter>(out);
}

}  // namespace gripstream
