// Surface normals of a drawn image, worked out afterwards for the pixels that show something.
//
// Pure function over caller-owned memory; thread-safe for different images; throws nothing.
#pragma once

#include "sim_server/render/kernels.h"

namespace gripstream {

// normals [H, W, 3]: unit vectors towards the camera's side in the optical frame; 0 where nothing was hit. The canvas
// must hold geoms.
void WriteNormals(const View& view, const SceneJob& scene, const Canvas& canvas, float* normals);

}  // namespace gripstream
