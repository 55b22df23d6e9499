// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 7.1 for compute capability 80.

#include "histogram_pass.h"

BOXSUM_COUNT(u8)
BOXSUM_COUNT(u16)
BOXSUM_COUNT(u32)
BOXSUM_COUNT(i16)
BOXSUM_COUNT(i32)
BOXSUM_COUNT(f32)
BOXSUM_COUNT(f64)
BOXSUM_STRIPS(u8)
BOXSUM_STRIPS(u16)
