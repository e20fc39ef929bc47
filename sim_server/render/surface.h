// What the kernels draw: pieces of geom boundaries ("surfaces") as polynomials in pixel offsets.
//
// A pixel's ray is d(u, v) = d0 + u du + v dv with whole offsets u, v from the surface's own origin pixel, and a point
// on it is d / s, where s is the inverse depth in 1/m. For every primitive the front surface's s is a polynomial of (u,
// v) or one square root of one, so there is neither a division per pixel nor cancellation between large numbers:
// offsets are small near the geom.
//
// Value is float for one surface, or a SIMD vector for a surface each of several geoms, set up side by side. Plain
// values; no thread rule; nothing throws.
#pragma once

#include <cstdint>

namespace gripstream {

// c + cu u + cv v
template <class Value>
struct LinearOf {
  Value c, cu, cv;
};

// c + cu u + cv v + cuu u^2 + cuv u v + cvv v^2
template <class Value>
struct ConicOf {
  Value c, cu, cv, cuu, cuv, cvv;
};

// Where a surface can be seen: pixels [x0, x1) x [y0, y1), all whole numbers, empty when it cannot; the pixel of offset
// (0, 0); and 1 / near plane where the surface reaches nearer than that, else kNoCut.
template <class Value>
struct PlacementOf {
  Value x0, x1, y0, y1;
  Value origin_x, origin_y;
  Value max_inverse_depth;
};
inline constexpr float kNoCut = 3e38f;

// s = base + sqrt(shape); when windowed only where |window + window_slope s| <= half_window s, that is between two
// planes across its axis.
template <class Value>
struct QuadricOf {
  PlacementOf<Value> place;
  LinearOf<Value> base;
  ConicOf<Value> shape;
  LinearOf<Value> window;
  Value window_slope, half_window;
};

// s = base where shape >= 0.
template <class Value>
struct DiscOf {
  PlacementOf<Value> place;
  LinearOf<Value> base;
  ConicOf<Value> shape;
};

// s = base where all edges >= 0: a flat convex polygon. No edges: an infinite plane.
template <class Value>
struct PolygonOf {
  PlacementOf<Value> place;
  LinearOf<Value> base;
  LinearOf<Value> edge[4];
};

// s = least of front where no less than all of back: the front of a box. A face that the camera is in front of bounds s
// from above, one that it is behind from below; per axis there is at most one of the former. What is missing is
// +-kUnbounded everywhere.
template <class Value>
struct BoxOf {
  PlacementOf<Value> place;
  LinearOf<Value> front[3];
  LinearOf<Value> back[6];
};
inline constexpr float kUnbounded = 1e30f;

enum class SurfaceKind : int32_t {
  kPlane,
  kRectangle,
  kDisc,
  kQuadric,
  kWindowed,
  kBoxOneFace,  // faces before the camera
  kBoxTwoFaces,
  kBoxThreeFaces,
};

// One surface ready to be drawn.
struct Surface {
  SurfaceKind kind;
  int32_t geom;  // id in the model
  int x0, x1, y0, y1;
  union {
    PlacementOf<float> place;
    QuadricOf<float> quadric;
    DiscOf<float> disc;
    PolygonOf<float> polygon;
    BoxOf<float> box;
  };
};

// A geom gives up to three: a capsule's two ends and its side.
inline constexpr int kMaxSurfacesPerGeom = 3;

// The camera as the kernels see it.
struct View {
  int width, height;
  float fx, fy, cx, cy;  // px
  float near_m, far_m;
};

}  // namespace gripstream
