// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 7.1 for compute capability 80.

#include "tensor.h"

BOXSUM_TENSOR(table, f16, f32, false, 8, 4, 2, 4)
BOXSUM_TENSOR(table, f16, f32, false, 16, 4, 4, 1)
BOXSUM_TENSOR(table, f16, f64, false, 8, 2, 2, 2)
BOXSUM_TENSOR(table, f16, f64, false, 8, 2, 4, 1)
BOXSUM_TENSOR(table, bf16, f32, false, 8, 4, 2, 4)
BOXSUM_TENSOR(table, bf16, f32, false, 16, 4, 4, 1)
BOXSUM_TENSOR(table, bf16, f64, false, 8, 2, 2, 2)
BOXSUM_TENSOR(table, bf16, f64, false, 8, 2, 4, 1)
BOXSUM_TENSOR(table, f32, f32, false, 8, 2, 2, 4)
BOXSUM_TENSOR(suffix, f32, f32, true, 8, 2, 2, 4)
BOXSUM_TENSOR(table, f32, f32, false, 16, 2, 4, 1)
BOXSUM_TENSOR(suffix, f32, f32, true, 16, 2, 4, 1)
BOXSUM_TENSOR(table, f64, f64, false, 8, 2, 2, 2)
BOXSUM_TENSOR(suffix, f64, f64, true, 8, 2, 2, 2)
BOXSUM_TENSOR(table, f64, f64, false, 8, 2, 4, 1)
BOXSUM_TENSOR(suffix, f64, f64, true, 8, 2, 4, 1)
BOXSUM_WINDOW(f16)
BOXSUM_WINDOW(bf16)
BOXSUM_WINDOW(f32)
BOXSUM_WINDOW(f64)
