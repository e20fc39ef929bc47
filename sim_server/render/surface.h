// What the kernels draw: pieces of geom boundaries ("surfaces") as polynomials in pixel offsets.
//
// A pixel's ray is d(u, v) = d0 + u du + v dv with integer offsets u, v from the surface's own origin pixel, and a
// point on it is d / s, where s is the inverse depth 1/m. For every primitive the front surface's s is a polynomial of
// (u, v) or one square root of one, so there is neither a division per pixel nor cancellation between large numbers:
// offsets are small near the geom. Plain values in units of 1/m and pixels; device-independent.
#pragma once

#include <cstdint>

namespace gripstream {

// c + cu u + cv v
struct Linear {
  float c, cu, cv;
};

// c + cu u + cv v + cuu u^2 + cuv u v + cvv v^2
struct Conic {
  float c, cu, cv, cuu, cuv, cvv;
};

// Pixels [x0, x1) x [y0, y1).
struct PixelRect {
  int x0, x1, y0, y1;
};

enum class SurfaceKind : int32_t {
  kPlane,     // s = base
  kDisc,      // s = base where shape >= 0
  kQuadric,   // s = base + sqrt(shape)
  kWindowed,  // the same where |window + window_slope s| <= half_window s: a quadric cut by two planes across its axis
  kConvex,    // s = least of front[] where no less than all of back[]: the front of a convex polytope
  kPolygon,   // s = base where all of back[] >= 0: a flat convex polygon
};

inline constexpr int kMaxFront = 3;  // faces of a box that a camera outside it can see
inline constexpr int kMaxBack = 5;

struct Surface {
  SurfaceKind kind;
  int32_t geom;            // id in the model
  PixelRect rect;          // holds every pixel that the surface can cover
  int origin_x, origin_y;  // the pixel of offset (0, 0)
  bool near_cut;           // part of the surface may be nearer than the near plane
  int front_count, back_count;
  Linear base;
  Conic shape;
  Linear window;
  float window_slope, half_window;
  Linear front[kMaxFront];
  Linear back[kMaxBack];
};

// A geom in the camera's optical frame (x right, y down, z forward).
struct CameraGeom {
  float centre[3];   // m
  float axis[3][3];  // the geom's axes x, y, z as unit vectors
};

// The camera as the kernels see it.
struct View {
  int width, height;
  float fx, fy, cx, cy;  // px
  float near_m, far_m;
};

}  // namespace gripstream
