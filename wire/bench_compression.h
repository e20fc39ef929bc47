// When compression pays: the link bandwidth below which a compressed record arrives sooner than a plain one.
//
// One thread packs and unpacks records of depth images of a made-up scene (a tilted table with spheres on it, without
// and with a sensor's noise), with the filter and without. Break-even counts packing, crossing and unpacking one after
// the other; roles that overlap them gain on faster links too.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

std::vector<BenchRow> BenchCompression(double seconds);

}  // namespace gripstream
