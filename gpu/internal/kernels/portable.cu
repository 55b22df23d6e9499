// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "job.h"

namespace portable_totals_u8_u32 {
#define GROUP 256
#define PIXEL u8
#define SUM u32
#include "portable.cl"
}

namespace portable_totals_u8_u32_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u32
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u8_u32_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM u32
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_u8_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#include "portable.cl"
}

namespace portable_totals_u8_u64_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u8_u64_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_u8_f32 {
#define GROUP 256
#define PIXEL u8
#define SUM f32
#define TAKE_OFFSET 1
#include "portable.cl"
}

namespace portable_totals_u8_f32_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM f32
#define SQUARE u64
#define TAKE_OFFSET 1
#include "portable.cl"
}

namespace portable_totals_u8_f32_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM f32
#define SQUARE f64
#define TAKE_OFFSET 1
#include "portable.cl"
}

namespace portable_totals_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#include "portable.cl"
}

namespace portable_totals_u8_f64_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u8_f64_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_u16_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#include "portable.cl"
}

namespace portable_totals_u16_u64_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u16_u64_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#include "portable.cl"
}

namespace portable_totals_u16_f64_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u16_f64_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_u16_u32 {
#define GROUP 256
#define PIXEL u16
#define SUM u32
#include "portable.cl"
}

namespace portable_totals_u16_u32_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u32
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u16_u32_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM u32
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_u32_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#include "portable.cl"
}

namespace portable_totals_u32_u64_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u32_u64_f64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_u32_u32 {
#define GROUP 256
#define PIXEL u32
#define SUM u32
#include "portable.cl"
}

namespace portable_totals_u32_u32_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u32
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_u32_u32_f64 {
#define GROUP 128
#define PIXEL u32
#define SUM u32
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_i16_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#include "portable.cl"
}

namespace portable_totals_i16_u64_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_i16_u64_f64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_i16_f64 {
#define GROUP 128
#define PIXEL i16
#define SUM f64
#include "portable.cl"
}

namespace portable_totals_i16_f64_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM f64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_i16_f64_f64 {
#define GROUP 128
#define PIXEL i16
#define SUM f64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_i32_u64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#include "portable.cl"
}

namespace portable_totals_i32_u64_u64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace portable_totals_i32_u64_f64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#define SQUARE f64
#include "portable.cl"
}

namespace portable_totals_f32_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f64
#define FLOAT_PIXEL 1
#include "portable.cl"
}

namespace portable_totals_f32_f64_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f64
#define SQUARE f64
#define FLOAT_PIXEL 1
#include "portable.cl"
}

namespace portable_totals_f32_f32 {
#define GROUP 256
#define PIXEL f32
#define SUM f32
#define FLOAT_PIXEL 1
#include "portable.cl"
}

namespace portable_totals_f32_f32_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f32
#define SQUARE f64
#define FLOAT_PIXEL 1
#include "portable.cl"
}

namespace portable_totals_f64_f64 {
#define GROUP 128
#define PIXEL f64
#define SUM f64
#define FLOAT_PIXEL 1
#include "portable.cl"
}

namespace portable_totals_f64_f64_f64 {
#define GROUP 128
#define PIXEL f64
#define SUM f64
#define SQUARE f64
#define FLOAT_PIXEL 1
#include "portable.cl"
}

namespace portable_carry_u32 {
#define GROUP 256
#define ACCUMULATOR u32
#include "carry.cl"
}

namespace portable_carry_u64 {
#define GROUP 128
#define ACCUMULATOR u64
#include "carry.cl"
}

namespace portable_carry_f32 {
#define GROUP 256
#define ACCUMULATOR f32
#include "carry.cl"
}

namespace portable_carry_f64 {
#define GROUP 128
#define ACCUMULATOR f64
#include "carry.cl"
}
