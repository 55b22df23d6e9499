// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 7.1 for compute capability 80.

#include "filter_tensor.h"

BOXSUM_FILTER_TENSOR(box, kBox, 1, 4, 4)
BOXSUM_FILTER_TENSOR(box, kBox, 2, 4, 1)
