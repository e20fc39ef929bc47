// Images to vary scenes with when the user has none: patterns that tile, and backdrops that look like rooms.
//
// Always the same images. Pure functions; thread-safe; nothing throws.
#pragma once

#include <vector>

#include "sim_server/render/texture.h"

namespace gripstream {

// Checkers, noise, stripes, wood grain, dots, soft gradients and tiles in random colours, 64x64, repeating seamlessly.
std::vector<RgbImage> ProceduralTextures(int count);

// Walls, floors, furniture-like blocks and blurs, 160x120.
std::vector<RgbImage> ProceduralBackgrounds(int count);

}  // namespace gripstream
