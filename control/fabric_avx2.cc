#define GS_FABRIC_KERNEL kFabricAvx2
#define GS_FABRIC_NAME "AVX2"
#include "control/fabric_kernel_impl.h"
