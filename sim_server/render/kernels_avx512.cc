#define GS_RENDER_ISA avx512
#define GS_RENDER_KERNELS kKernelsAvx512
#include "sim_server/render/kernels_impl.h"
