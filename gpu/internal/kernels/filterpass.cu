// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 7.1 for compute capability 80.

#include "filter_pass.h"

BOXSUM_FILTER(box, kBox, 8, 10)
BOXSUM_FILTER(stats, kStats, 8, 6)
BOXSUM_FILTER(sauvola, kSauvola, 8, 6)
