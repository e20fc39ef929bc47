// Convex decompositions kept on disk, so that a mesh is decomposed once and not by every process of every run.
//
//   digest of (mesh, limits, method) -> FOLDER/DIGEST.parts -> the parts, or none
//
// A file is written whole or not at all, and names its digest and its own checksum: what is cut short, damaged or
// another mesh's counts as not there, and is made anew. A folder that cannot be written is no failure. Any number of
// processes and threads may share one.
#pragma once

#include <string>
#include <vector>

#include "envs/convex_parts.h"

namespace gripstream {

// convex_parts in GRIPSTREAM_CACHE, else in gripstream in XDG_CACHE_HOME, else in ~/.cache/gripstream. Empty, which
// keeps nothing: where GRIPSTREAM_CACHE is set to nothing, or none of them is set.
std::string PartsCacheFolder();

// ConvexParts, from `folder` where they are there.
std::vector<TriangleMesh> CachedConvexParts(const TriangleMesh& mesh, const ConvexLimits& limits,
                                            const std::string& where, const std::string& folder = PartsCacheFolder());

}  // namespace gripstream
