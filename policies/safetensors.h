// The safetensors file format: 8 bytes little-endian header length, a JSON header, raw tensor data.
//
// Read by any safetensors library. Reading trusts nothing: every length is checked before it is used, and whatever does
// not fit ends in an InputError of one line that names the file, the key and what was expected. Writing is
// all-or-nothing and throws RunError. Little-endian machines only. Thread-safe for different paths.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "policies/parameters.h"

namespace gripstream {

struct SafetensorsFile {
  std::vector<NamedTensor> tensors;             // in the order of their data
  std::map<std::string, std::string> metadata;  // the header's "__metadata__"
};

// Adds the key "sha256" to the metadata: the digest of the data section.
void WriteSafetensors(const std::string& path, const SafetensorsFile& content);
// Compares the data with the metadata's "sha256" where there is one.
SafetensorsFile ReadSafetensors(const std::string& path);

}  // namespace gripstream
