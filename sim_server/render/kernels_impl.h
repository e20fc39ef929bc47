// The body of kernels_*.cc: sets up an environment's surfaces, then draws them band by band (see lanes.h for why it is
// included thus).
#pragma once

#include "sim_server/render/augment_image.h"
#include "sim_server/render/camera_geoms.h"
#include "sim_server/render/fill.h"
#include "sim_server/render/kernels.h"
#include "sim_server/render/lanes.h"
#include "sim_server/render/mesh_kernel.h"
#include "sim_server/render/noise_image.h"
#include "sim_server/render/shade_kernel.h"
#include "sim_server/render/surface_columns.h"
#include "sim_server/render/surface_setup.h"

namespace gripstream::GS_RENDER_ISA {

template <class Column>
void FillSurface(const Surface& s, const Band& band) {
  Fill<Column>(s, s.place, {s.x0, s.x1, s.y0, s.y1}, {s.geom, -1}, band);
}

void DrawSurface(const Surface& surface, const Band& band) {
  if (surface.y0 >= band.y1 || surface.y1 <= band.y0) return;
  switch (surface.kind) {
    case SurfaceKind::kPlane:
      return FillSurface<PlaneColumn>(surface, band);
    case SurfaceKind::kRectangle:
      return FillSurface<RectangleColumn>(surface, band);
    case SurfaceKind::kDisc:
      return FillSurface<DiscColumn>(surface, band);
    case SurfaceKind::kQuadric:
      return FillSurface<QuadricColumn>(surface, band);
    case SurfaceKind::kWindowed:
      return FillSurface<WindowedColumn>(surface, band);
    case SurfaceKind::kBoxOneFace:
      return FillSurface<BoxColumn<1>>(surface, band);
    case SurfaceKind::kBoxTwoFaces:
      return FillSurface<BoxColumn<2>>(surface, band);
    case SurfaceKind::kBoxThreeFaces:
      return FillSurface<BoxColumn<3>>(surface, band);
  }
}

// The surfaces of one environment so far.
struct SurfaceList {
  Surface* surfaces;
  int count;
};

// Appends the lanes that can be seen; `get` names the union's member, `finish` completes one.
template <class From, class To, class Finish>
void Append(const From& from, To Surface::*member, SurfaceKind kind, const GeomBatch& batch, int first, int lanes,
            SurfaceList* list, Finish finish) {
  float x0[kLanes], x1[kLanes], y0[kLanes], y1[kLanes];
  Store(x0, from.place.x0), Store(x1, from.place.x1), Store(y0, from.place.y0), Store(y1, from.place.y1);
  for (int lane = 0; lane < lanes; ++lane) {
    if (!(x0[lane] < x1[lane] && y0[lane] < y1[lane])) continue;
    Surface& out = list->surfaces[list->count++];
    out.kind = kind;
    out.geom = batch.id[first + lane];
    out.x0 = static_cast<int>(x0[lane]), out.x1 = static_cast<int>(x1[lane]);
    out.y0 = static_cast<int>(y0[lane]), out.y1 = static_cast<int>(y1[lane]);
    TakeLane(from, lane, &(out.*member));
    finish(out);
  }
}

// Moves the faces that are there to the front and counts them.
void FinishBox(Surface& s) {
  int front = 0, back = 0;
  for (int i = 0; i < 3; ++i) {
    if (s.box.front[i].c < kUnbounded) s.box.front[front++] = s.box.front[i];
  }
  for (int i = 0; i < 6; ++i) {
    if (s.box.back[i].c > -kUnbounded) s.box.back[back++] = s.box.back[i];
  }
  s.kind = front == 1 ? SurfaceKind::kBoxOneFace : front == 2 ? SurfaceKind::kBoxTwoFaces : SurfaceKind::kBoxThreeFaces;
}

// An end of a capsule needs its window only where the near plane cuts the capsule.
void FinishEnd(Surface& s) {
  if (s.place.max_inverse_depth < kNoCut) s.kind = SurfaceKind::kWindowed;
}

void FinishNothing(Surface&) {}

void SetUp(const GeomBatch& batch, int first, const SceneJob& scene, const View& view, SurfaceList* list) {
  CameraGeoms geoms = ToCamera(scene, batch.id + first);
  for (int i = 0; i < 3; ++i) geoms.size[i] = Lanes::Load(batch.size[i] + first);
  const LaneMask visible = IsFinite(geoms);
  const int lanes = batch.count - first < kLanes ? batch.count - first : kLanes;
  const auto append = [&](const auto& from, auto member, SurfaceKind kind, auto finish) {
    Append(from, member, kind, batch, first, lanes, list, finish);
  };
  switch (batch.shape) {
    case Shape::kPlane: {
      return append(SetPlane(geoms, visible, view), &Surface::polygon, SurfaceKind::kRectangle, [](Surface& s) {
        bool open = true;
        for (const LinearOf<float>& edge : s.polygon.edge) open = open && edge.cu == 0 && edge.cv == 0 && edge.c == 1;
        if (open) s.kind = SurfaceKind::kPlane;
      });
    }
    case Shape::kEllipsoid: {
      RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
      return append(SetEllipsoid(geoms, geoms.size, geoms.centre, visible, view, &rays), &Surface::quadric,
                    SurfaceKind::kQuadric, FinishNothing);
    }
    case Shape::kCapsule: {
      const Capsule capsule = SetCapsule(geoms, visible, view);
      append(capsule.side, &Surface::quadric, SurfaceKind::kWindowed, FinishNothing);
      append(capsule.end[0], &Surface::quadric, SurfaceKind::kQuadric, FinishEnd);
      return append(capsule.end[1], &Surface::quadric, SurfaceKind::kQuadric, FinishEnd);
    }
    case Shape::kCylinder: {
      const Cylinder cylinder = SetCylinder(geoms, visible, view);
      append(cylinder.side, &Surface::quadric, SurfaceKind::kWindowed, FinishNothing);
      return append(cylinder.end, &Surface::disc, SurfaceKind::kDisc, FinishNothing);
    }
    case Shape::kMesh:
      return;
    case Shape::kBox:
      return append(SetBox(geoms, visible, view), &Surface::box, SurfaceKind::kBoxOneFace, FinishBox);
  }
}

// Clears a band to the depth `reach_m`, which nothing beyond it can then beat.
void Clear(const View& view, float reach_m, const Band& band) {
  const Lanes far(1.0f / reach_m);
  const LaneMask all = FirstLanes(kLanes);
  for (int y = 0; y < band.y1 - band.y0; ++y) {
    for (int x = 0; x < view.width; x += kLanes) {
      const int64_t at = int64_t{y} * band.stride + x;
      Store(band.inverse + at, far);
      if (band.geom) StoreWhere(all, band.geom + at, -1);
      if (band.triangle) StoreWhere(all, band.triangle + at, -1);
    }
  }
}

// Clears a band to the depth `reach_m` or a plane that fills the image, whichever is nearer.
void ClearToPlane(const View& view, float reach_m, const Surface& plane, const Band& band) {
  const Lanes far(1.0f / reach_m);
  for (int x = 0; x < view.width; x += kLanes) {
    const PlaneColumn column(plane, Lanes::Iota() + Lanes(static_cast<float>(x) - plane.place.origin_x));
    Lanes v(static_cast<float>(band.y0) - plane.place.origin_y);
    float* inverse = band.inverse + x;
    for (int y = band.y0; y < band.y1; ++y, v = v + Lanes(1.0f), inverse += band.stride) {
      Store(inverse, Max(column(v), far));
    }
  }
}

// A strip at the end of a row, of which fewer than kLanes pixels may be written.
template <class Out, class StoreStrip>
void StorePart(Out* out, int count, StoreStrip store) {
  Out part[kLanes];
  store(part);
  for (int i = 0; i < kLanes && i < count; ++i) out[i] = part[i];
}

// One row of depth in quanta.
void ResolveUint16(const float* inverse, int width, Lanes far, uint16_t* out) {
  const Lanes per_metre(10000.0f);
  const auto strip = [&](int x) {
    const Lanes s = Lanes::Load(inverse + x);
    return Keep(far < s, FastReciprocal(s) * per_metre);
  };
  int x = 0;
  for (; x + 2 * kLanes <= width; x += 2 * kLanes) StoreUint16Pair(out + x, strip(x), strip(x + kLanes));
  for (; x < width; x += kLanes) {
    StorePart(out + x, width - x, [&](uint16_t* p) { StoreUint16(p, strip(x)); });
  }
}

// One row of depth in metres.
void ResolveFloat(const float* inverse, int width, Lanes far, float* out) {
  const auto strip = [&](int x) {
    const Lanes s = Lanes::Load(inverse + x);
    return Keep(far < s, Lanes(1.0f) / s);
  };
  int x = 0;
  for (; x + kLanes <= width; x += kLanes) Store(out + x, strip(x));
  if (x < width) StorePart(out + x, width - x, [&](float* p) { Store(p, strip(x)); });
}

// Writes a band's depth images: 0 where nothing beat the far plane.
void Resolve(const View& view, const Band& band, const Canvas& canvas) {
  const Lanes far(1.0f / view.far_m);
  for (int y = band.y0; y < band.y1; ++y) {
    const float* inverse = band.inverse + int64_t{y - band.y0} * band.stride;
    const int64_t row = int64_t{y} * view.width;
    if (canvas.depth_u16) ResolveUint16(inverse, view.width, far, canvas.depth_u16 + row);
    if (canvas.depth_f32) ResolveFloat(inverse, view.width, far, canvas.depth_f32 + row);
  }
}

void DrawMeshes(const View& view, const SceneJob& scene, bool translucent, const Canvas& canvas, const Band& band) {
  for (int i = 0; i < scene.mesh_count; ++i) {
    if (scene.meshes[i].translucent != translucent) continue;
    int ids[kLanes];
    for (int& id : ids) id = scene.meshes[i].geom;
    DrawMesh(scene.meshes[i], ToCamera(scene, ids), view, canvas.vertices, band);
  }
}

// Sets up the opaque or the translucent geoms.
void SetUpAll(const View& view, const SceneJob& scene, bool translucent, SurfaceList* list) {
  for (int i = 0; i < scene.batch_count; ++i) {
    if (scene.batches[i].translucent != translucent) continue;
    for (int first = 0; first < scene.batches[i].count; first += kLanes) {
      SetUp(scene.batches[i], first, scene, view, list);
    }
  }
}

PixelRow RowOf(const Band& band, int y) {
  const int64_t at = int64_t{y - band.y0} * band.stride;
  return {y, band.inverse + at, band.geom + at, band.triangle ? band.triangle + at : nullptr};
}

// Draws one translucent geom over what `opaque` shows and lays its colour over the image.
void BlendGeom(const View& view, const SceneJob& scene, const Canvas& canvas, const ShadeJob& job,
               const SurfaceList& surfaces, int32_t id, const Band& opaque) {
  const Band layer = {opaque.y0,         opaque.y1,
                      opaque.stride,     canvas.layer_inverse,
                      canvas.layer_geom, opaque.triangle ? canvas.layer_triangle : nullptr};
  const size_t pixels = static_cast<size_t>(opaque.y1 - opaque.y0) * static_cast<size_t>(opaque.stride);
  memcpy(layer.inverse, opaque.inverse, pixels * sizeof(float));
  memset(layer.geom, 0xFF, pixels * sizeof(int32_t));  // -1
  for (int i = 0; i < surfaces.count; ++i) {
    if (surfaces.surfaces[i].geom == id) DrawSurface(surfaces.surfaces[i], layer);
  }
  for (int i = 0; i < scene.mesh_count; ++i) {
    if (scene.meshes[i].geom != id) continue;
    int ids[kLanes];
    for (int& same : ids) same = id;
    DrawMesh(scene.meshes[i], ToCamera(scene, ids), view, canvas.vertices, layer);
  }
  for (int y = layer.y0; y < layer.y1; ++y) BlendRow(view, scene, job, RowOf(layer, y), id);
}

// The opaque geoms of a band, and its depth images.
void DrawOpaque(const View& view, const SceneJob& scene, const Canvas& canvas, const SurfaceList& list,
                const Band& band) {
  const bool plane_first = list.count > 0 && list.surfaces[0].kind == SurfaceKind::kPlane &&
                           list.surfaces[0].place.max_inverse_depth == kNoCut && !canvas.geom;
  plane_first ? ClearToPlane(view, canvas.reach_m, list.surfaces[0], band) : Clear(view, canvas.reach_m, band);
  for (int i = plane_first ? 1 : 0; i < list.count; ++i) DrawSurface(list.surfaces[i], band);
  DrawMeshes(view, scene, false, canvas, band);
  if (canvas.depth_u16 || canvas.depth_f32) Resolve(view, band, canvas);
}

void Render(const View& view, const SceneJob& scene, const Canvas& canvas, const ShadeJob* shade) {
  SurfaceList opaque = {canvas.surfaces, 0};
  SetUpAll(view, scene, false, &opaque);
  SurfaceList translucent = {canvas.surfaces + opaque.count, 0};
  if (canvas.keeps_ids || canvas.layer_inverse) SetUpAll(view, scene, true, &translucent);
  const int layers = shade && canvas.layer_inverse ? SortTranslucent(scene, canvas.layer_order) : 0;
  for (int i = 0; shade && i < scene.geom_count; ++i) shade->frames[scene.geoms[i].id].ready = false;
  for (int y = 0; y < view.height; y += canvas.band_rows) {
    const int end = y + canvas.band_rows < view.height ? y + canvas.band_rows : view.height;
    const Band band = {y, end, canvas.stride, canvas.inverse_depth, canvas.geom, canvas.triangle};
    DrawOpaque(view, scene, canvas, opaque, band);
    for (int row = y; shade && row < end; ++row) ShadeRow(view, scene, *shade, RowOf(band, row));
    for (int i = 0; i < layers; ++i) {
      BlendGeom(view, scene, canvas, *shade, translucent, canvas.layer_order[i], band);
    }
    if (!canvas.keeps_ids) continue;
    for (int i = 0; i < translucent.count; ++i) DrawSurface(translucent.surfaces[i], band);
    DrawMeshes(view, scene, true, canvas, band);
  }
  FinishStores();
}

}  // namespace gripstream::GS_RENDER_ISA

namespace gripstream {

#define GS_TEXT2(x) #x
#define GS_TEXT(x) GS_TEXT2(x)
extern const RenderKernels GS_RENDER_KERNELS;
const RenderKernels GS_RENDER_KERNELS = {GS_TEXT(GS_RENDER_ISA), GS_RENDER_ISA::Render, GS_RENDER_ISA::NoiseImage,
                                         GS_RENDER_ISA::AugmentImage};

}  // namespace gripstream
