// See gloo/algorithm.h.
#pragma once

#include <gloo/algorithm.h>
