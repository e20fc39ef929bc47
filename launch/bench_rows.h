// Benchmark rows as text: the table that people read, and the JSON that scripts and other programs of ours read.
//
// Pure functions. FromJson throws RunError on what ToJson has not written.
#pragma once

#include <string>
#include <vector>

#include "core/bench.h"

namespace gripstream {

std::string ToTable(const std::vector<BenchRow>& rows);
// The same for a Markdown file.
std::string ToMarkdown(const std::vector<BenchRow>& rows);
std::string ToJson(const std::vector<BenchRow>& rows);
std::vector<BenchRow> RowsFromJson(const std::string& json);

}  // namespace gripstream
