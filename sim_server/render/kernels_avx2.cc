#define GS_RENDER_ISA avx2
#define GS_RENDER_KERNELS kKernelsAvx2
#include "sim_server/render/kernels_impl.h"
