// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 7.1 for compute capability 80.

#include "filter_strip.h"

BOXSUM_FILTER_STRIP(filterstrip_mean, Mean, false, 4, 5)
BOXSUM_FILTER_STRIP(filterstrip_wide, Mean, true, 1, 6)
BOXSUM_FILTER_STRIP(filterstrip_decide, Decide, 16, 1, 4)
