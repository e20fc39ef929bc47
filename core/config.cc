#include "core/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {

struct ConfigFile::Document {
  YAML::Node root;
  std::vector<std::string> overridden;  // dotted keys that came from --set
};

namespace {

std::string Join(const std::string& prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
}

std::string FormatNumber(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

template <class Range>
std::string FormatRange(const Range& range) {
  const auto min = static_cast<double>(range.min), max = static_cast<double>(range.max);
  const bool has_min = min > -9e18, has_max = max < 9e18;  // the defaults of both kinds of range mean "any"
  if (has_min && has_max) return " from " + FormatNumber(min) + " to " + FormatNumber(max);
  if (has_min) return " of at least " + FormatNumber(min);
  if (has_max) return " of at most " + FormatNumber(max);
  return "";
}

std::string NodeText(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (node.IsNull()) return "nothing";
  YAML::Emitter out;
  out << YAML::Flow << node;
  return out.c_str();
}

constexpr int kDeepest = 32;  // no configuration nests like this; an anchor that holds itself does

// yaml-cpp keeps the first of two equal keys and says nothing; a user who wrote both means something else.
void RejectRepeatedKeys(const YAML::Node& node, const std::string& name, const std::string& prefix, int depth = 0) {
  if (depth > kDeepest) throw InputError(name, "nests more than " + std::to_string(kDeepest) + " levels deep");
  if (node.IsSequence()) {
    for (const auto& item : node) RejectRepeatedKeys(item, name, prefix, depth + 1);
  }
  if (!node.IsMap()) return;
  std::vector<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) throw InputError(name, prefix, NodeText(entry.first), "a plain key");
    const std::string key = Join(prefix, entry.first.Scalar());
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      throw InputError(name, "key '" + key + "' is given twice");
    seen.push_back(key);
    RejectRepeatedKeys(entry.second, name, key, depth + 1);
  }
}

YAML::Node ParseYaml(const std::string& text, const std::string& name) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) throw InputError(name, "holds several YAML documents ('---'), expected one");
    return documents.empty() ? YAML::Node() : documents.front();
  } catch (const YAML::Exception& error) {
    throw InputError(name, std::string("not valid YAML: ") + error.what());
  }
}

void ApplyOverride(YAML::Node root, const std::string& assignment, std::vector<std::string>& overridden) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) throw InputError("--set", "", assignment, "key=value");
  const std::string key = assignment.substr(0, equals);
  YAML::Node node = root;  // yaml-cpp nodes are handles: assigning through `node` would alias, so reset() moves it on
  std::istringstream parts(key);
  std::string part;
  while (std::getline(parts, part, '.')) {
    if (part.empty() || (node.IsDefined() && !node.IsMap() && !node.IsNull())) {
      throw InputError("--set", "", assignment, "a key that names one value, like sim.envs=64");
    }
    node.reset(node[part]);
  }
  const YAML::Node value = ParseYaml(assignment.substr(equals + 1), "--set " + key);
  // Nothing at all would silently drop what the file says.
  if (value.IsNull()) throw InputError("--set", "", assignment, "a value behind '='; an empty text is \"\"");
  RejectRepeatedKeys(value, "--set", key);
  node = value;
  overridden.push_back(key);
}

// Walks the struct's fields over the YAML tree; remembers which keys it met so that the others can be refused.
class YamlReader : public FieldVisitor {
 public:
  YamlReader(std::string name, YAML::Node root, const std::vector<std::string>& overridden)
      : name_(std::move(name)), overridden_(overridden) {
    levels_.push_back({"", root, {}});
    RequireMap(levels_.back());
  }

  void Int(std::string_view key, int& value, const FieldDoc& doc, IntRange range) override {
    ReadScalar(key, value, doc, "an integer" + FormatRange(range),
               [&](int x) { return x >= range.min && x <= range.max; });
  }
  void Uint64(std::string_view key, uint64_t& value, const FieldDoc& doc) override {
    // yaml-cpp would take "-1" and wrap it around.
    const std::optional<YAML::Node> node = Child(levels_.back().node, key);
    if (node && NodeText(*node).find('-') != std::string::npos) Refuse(key, *node, "an integer of at least 0");
    ReadScalar(key, value, doc, "an integer of at least 0", [](uint64_t) { return true; });
  }
  void Float(std::string_view key, double& value, const FieldDoc& doc, FloatRange range) override {
    ReadScalar(key, value, doc, "a number" + FormatRange(range),
               [&](double x) { return std::isfinite(x) && x >= range.min && x <= range.max; });
  }
  void Bool(std::string_view key, bool& value, const FieldDoc& doc) override {
    ReadScalar(key, value, doc, "true or false", [](bool) { return true; });
  }
  void String(std::string_view key, std::string& value, const FieldDoc& doc) override {
    ReadScalar(key, value, doc, "text", [](const std::string&) { return true; });
  }
  void Choice(std::string_view key, std::string& value, const std::vector<std::string>& choices,
              const FieldDoc& doc) override {
    std::string expected = "one of";
    for (const std::string& choice : choices) expected += " " + choice;
    ReadScalar(key, value, doc, expected,
               [&](const std::string& x) { return std::find(choices.begin(), choices.end(), x) != choices.end(); });
  }
  void Floats(std::string_view key, std::vector<double>& value, size_t size, const FieldDoc& doc,
              FloatRange range) override {
    ReadList(key, value, size, doc, "numbers" + FormatRange(range),
             [&](double x) { return std::isfinite(x) && x >= range.min && x <= range.max; });
  }
  void Ints(std::string_view key, std::vector<int>& value, size_t size, const FieldDoc& doc, IntRange range) override {
    ReadList(key, value, size, doc, "integers" + FormatRange(range),
             [&](int x) { return x >= range.min && x <= range.max; });
  }
  void Strings(std::string_view key, std::vector<std::string>& value, const FieldDoc& doc) override {
    ReadList(key, value, 0, doc, "texts", [](const std::string&) { return true; });
  }

  void RefuseUnknownKeys() { RefuseUnknownKeys(levels_.back()); }

 protected:
  void BeginGroup(std::string_view key, std::string_view) override {
    Level& parent = levels_.back();
    parent.known.emplace_back(key);
    Level level{Join(parent.prefix, key), Child(parent.node, key).value_or(YAML::Node()), {}};
    RequireMap(level);
    levels_.push_back(std::move(level));
  }
  void EndGroup() override {
    RefuseUnknownKeys(levels_.back());
    levels_.pop_back();
  }

 private:
  struct Level {
    std::string prefix;
    YAML::Node node;
    std::vector<std::string> known;
  };

  void RequireMap(const Level& level) const {
    if (!level.node.IsNull() && !level.node.IsMap()) {
      throw InputError(Source(level.prefix), level.prefix, NodeText(level.node), "a group of keys");
    }
  }

  // The --set option when the key (or one inside it) was given there, else the file.
  std::string Source(const std::string& key) const {
    const bool is_override = std::find(overridden_.begin(), overridden_.end(), key) != overridden_.end();
    return is_override ? "--set" : name_;
  }

  [[noreturn]] void Refuse(std::string_view key, const YAML::Node& node, const std::string& expected) const {
    const std::string full = Join(levels_.back().prefix, key);
    throw InputError(Source(full), full, NodeText(node), expected);
  }

  // yaml-cpp answers a missing key with a node that throws when touched, so absence is made a value here.
  static std::optional<YAML::Node> Child(const YAML::Node& map, std::string_view key) {
    if (!map.IsMap()) return std::nullopt;
    const YAML::Node node = map[std::string(key)];
    return node.IsDefined() ? std::optional<YAML::Node>(node) : std::nullopt;
  }

  std::optional<YAML::Node> Find(std::string_view key, const FieldDoc& doc) {
    Level& level = levels_.back();
    level.known.emplace_back(key);
    std::optional<YAML::Node> node = Child(level.node, key);
    if (!node && doc.required) {
      throw InputError(name_,
                       "key '" + Join(level.prefix, key) + "' is missing; it is needed: " + std::string(doc.doc));
    }
    return node;
  }

  template <class T, class Valid>
  void ReadScalar(std::string_view key, T& value, const FieldDoc& doc, const std::string& expected, Valid valid) {
    const std::optional<YAML::Node> node = Find(key, doc);
    if (!node) return;
    T read{};
    if (!node->IsScalar() || !YAML::convert<T>::decode(*node, read) || !valid(read)) Refuse(key, *node, expected);
    value = read;
  }

  template <class T, class Valid>
  void ReadList(std::string_view key, std::vector<T>& value, size_t size, const FieldDoc& doc, const std::string& kind,
                Valid valid) {
    const std::optional<YAML::Node> found = Find(key, doc);
    if (!found) return;
    const YAML::Node& node = *found;
    const std::string expected = "a list of " + (size ? std::to_string(size) + " " : std::string()) + kind;
    if (!node.IsSequence() || (size && node.size() != size)) Refuse(key, node, expected);
    std::vector<T> read(node.size());
    for (size_t i = 0; i < node.size(); ++i) {
      T item{};
      if (!node[i].IsScalar() || !YAML::convert<T>::decode(node[i], item) || !valid(item)) Refuse(key, node, expected);
      read[i] = item;
    }
    value = std::move(read);
  }

  void RefuseUnknownKeys(const Level& level) const {
    if (!level.node.IsMap()) return;
    for (const auto& entry : level.node) {
      const std::string key = entry.first.Scalar();
      if (std::find(level.known.begin(), level.known.end(), key) != level.known.end()) continue;
      const std::string full = Join(level.prefix, key);
      const std::string nearest = NearestName(key, level.known);
      throw InputError(Source(full),
                       "unknown key '" + full + "'" +
                           (nearest.empty() ? "" : "; did you mean '" + Join(level.prefix, nearest) + "'?"));
    }
  }

  std::string name_;
  const std::vector<std::string>& overridden_;
  std::vector<Level> levels_;
};

}  // namespace

ConfigFile::ConfigFile(std::string name, std::unique_ptr<Document> document)
    : name_(std::move(name)), document_(std::move(document)) {}
ConfigFile::ConfigFile(ConfigFile&&) noexcept = default;
ConfigFile::~ConfigFile() = default;

ConfigFile::ConfigFile(const std::string& path, const std::vector<std::string>& overrides)
    : ConfigFile(FromText(ReadText(path), path, overrides)) {}

ConfigFile ConfigFile::FromText(const std::string& text, const std::string& name,
                                const std::vector<std::string>& overrides) {
  auto document = std::make_unique<Document>();
  document->root = ParseYaml(text, name);
  if (document->root.IsNull()) document->root = YAML::Node(YAML::NodeType::Map);
  if (!document->root.IsMap()) throw InputError(name, "", NodeText(document->root), "a group of keys");
  RejectRepeatedKeys(document->root, name, "");
  for (const std::string& assignment : overrides) ApplyOverride(document->root, assignment, document->overridden);
  return ConfigFile(name, std::move(document));
}

std::unique_ptr<FieldVisitor> ConfigFile::MakeReader() const {
  return std::make_unique<YamlReader>(name_, document_->root, document_->overridden);
}

void ConfigFile::FinishReading(FieldVisitor& reader) const {
  static_cast<YamlReader&>(reader).RefuseUnknownKeys();
}

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = name.size() / 3 + 2;  // further away is not a typing error
  for (const std::string& candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= name.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t substitute = diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
      }
    }
    // A name cut short, or without its unit, is near too.
    const bool is_prefix = name.size() >= 3 && candidate.compare(0, name.size(), name) == 0;
    const size_t distance = is_prefix ? 1 : row.back();
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace gripstream
