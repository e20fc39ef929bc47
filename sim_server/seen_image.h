// What a policy was shown, as a picture for people.
#pragma once

#include <span>

#include "sim_server/render/image_io.h"
#include "wire/layout.h"

namespace gripstream {

// Environment `env`'s depth image in the record, coloured, or else its colour image: of the first camera, enlarged by a
// whole number to about `height_px`. Empty where the record holds neither. Thread-safe.
cv::Mat SeenImage(const Layout& layout, std::span<const std::byte> record, int env, int height_px);

}  // namespace gripstream
