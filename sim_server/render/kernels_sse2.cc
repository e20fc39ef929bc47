#define GS_RENDER_ISA sse2
#define GS_RENDER_KERNELS kKernelsSse2
#include "sim_server/render/kernels_impl.h"
