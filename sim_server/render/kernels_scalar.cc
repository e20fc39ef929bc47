#define GS_RENDER_ISA scalar
#define GS_RENDER_ONE_LANE
#define GS_RENDER_KERNELS kKernelsScalar
#include "sim_server/render/kernels_impl.h"
