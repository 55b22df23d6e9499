// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 7.1 for compute capability 80.

#include "plane_shapes.h"

BOXSUM_SUMS(u8, u32)
BOXSUM_SUMS(u8, u64)
BOXSUM_SUMS(u8, f32)
BOXSUM_SUMS(u8, f64)
BOXSUM_SUMS(u16, u64)
BOXSUM_SUMS(u16, f64)
BOXSUM_SUMS(u32, u64)
BOXSUM_SUMS(u32, u32)
BOXSUM_SUMS(i16, u64)
BOXSUM_SUMS(i32, u64)
BOXSUM_SUMS(f32, f64)
BOXSUM_SUMS(f32, f32)
BOXSUM_SUMS(f64, f64)
