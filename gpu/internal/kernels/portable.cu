// Written by go test ./gpu/internal/kernels -update, from the list of types there: every
// portable kernel for CUDA.

#include "dialect.h"
#include "job.h"

namespace u8_u32 {
#define GROUP 256
#define PIXEL u8
#define SUM u32
#include "portable.cl"
}

namespace u8_u32_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u32
#define SQUARE u64
#include "portable.cl"
}

namespace u8_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#include "portable.cl"
}

namespace u8_u64_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace u8_f32 {
#define GROUP 256
#define PIXEL u8
#define SUM f32
#define TAKE_OFFSET 1
#include "portable.cl"
}

namespace u8_f32_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM f32
#define SQUARE u64
#define TAKE_OFFSET 1
#include "portable.cl"
}

namespace u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#include "portable.cl"
}

namespace u8_f64_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#define SQUARE u64
#include "portable.cl"
}

namespace u16_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#include "portable.cl"
}

namespace u16_u64_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#include "portable.cl"
}

namespace u16_f64_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#define SQUARE u64
#include "portable.cl"
}

namespace i16_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#include "portable.cl"
}

namespace i16_u64_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace i32_u64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#include "portable.cl"
}

namespace i32_u64_u64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace i32_u64_f64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#define SQUARE f64
#include "portable.cl"
}

namespace u32_u32 {
#define GROUP 256
#define PIXEL u32
#define SUM u32
#include "portable.cl"
}

namespace u32_u32_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u32
#define SQUARE u64
#include "portable.cl"
}

namespace u32_u32_f64 {
#define GROUP 128
#define PIXEL u32
#define SUM u32
#define SQUARE f64
#include "portable.cl"
}

namespace u32_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#include "portable.cl"
}

namespace u32_u64_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#define SQUARE u64
#include "portable.cl"
}

namespace u32_u64_f64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#define SQUARE f64
#include "portable.cl"
}

namespace f32_f32 {
#define GROUP 256
#define PIXEL f32
#define SUM f32
#define TAKE_OFFSET 1
#include "portable.cl"
}

namespace f32_f32_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f32
#define SQUARE f64
#define TAKE_OFFSET 1
#include "portable.cl"
}

namespace f32_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f64
#include "portable.cl"
}

namespace f32_f64_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f64
#define SQUARE f64
#include "portable.cl"
}

namespace f64_f64 {
#define GROUP 128
#define PIXEL f64
#define SUM f64
#include "portable.cl"
}

namespace f64_f64_f64 {
#define GROUP 128
#define PIXEL f64
#define SUM f64
#define SQUARE f64
#include "portable.cl"
}

namespace sums_u32 {
#define GROUP 256
#define ACCUMULATOR u32
#include "carry.cl"
}

namespace sums_u64 {
#define GROUP 128
#define ACCUMULATOR u64
#include "carry.cl"
}

namespace sums_f32 {
#define GROUP 256
#define ACCUMULATOR f32
#include "carry.cl"
}

namespace sums_f64 {
#define GROUP 128
#define ACCUMULATOR f64
#include "carry.cl"
}
