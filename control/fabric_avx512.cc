#define GS_FABRIC_KERNEL kFabricAvx512
#define GS_FABRIC_NAME "AVX-512"
#include "control/fabric_kernel_impl.h"
