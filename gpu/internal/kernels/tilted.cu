// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "job.h"
#include "tilted.h"

namespace tilted_totals_u8_u32 {
#define GROUP 256
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM u32
#define SUM_BYTES 4
#include "tilted.cl"
}

namespace tilted_totals4x1_u8_u32 {
#define GROUP 32
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM u32
#define SUM_BYTES 4
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals4x2_u8_u32 {
#define GROUP 32
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM u32
#define SUM_BYTES 4
#define QUADS 2
#include "tilted.cl"
}

namespace tilted_totals_u8_u64 {
#define GROUP 128
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM u64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_u8_u64 {
#define GROUP 32
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM u64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_u8_f32 {
#define GROUP 256
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM f32
#define SUM_BYTES 4
#include "tilted.cl"
}

namespace tilted_totals4x1_u8_f32 {
#define GROUP 32
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM f32
#define SUM_BYTES 4
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals4x2_u8_f32 {
#define GROUP 32
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM f32
#define SUM_BYTES 4
#define QUADS 2
#include "tilted.cl"
}

namespace tilted_totals_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM f64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_u8_f64 {
#define GROUP 32
#define PIXEL u8
#define PIXEL_BYTES 1
#define SUM f64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_u16_u64 {
#define GROUP 128
#define PIXEL u16
#define PIXEL_BYTES 2
#define SUM u64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_u16_u64 {
#define GROUP 32
#define PIXEL u16
#define PIXEL_BYTES 2
#define SUM u64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define PIXEL_BYTES 2
#define SUM f64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_u16_f64 {
#define GROUP 32
#define PIXEL u16
#define PIXEL_BYTES 2
#define SUM f64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_u16_u32 {
#define GROUP 256
#define PIXEL u16
#define PIXEL_BYTES 2
#define SUM u32
#define SUM_BYTES 4
#include "tilted.cl"
}

namespace tilted_totals4x1_u16_u32 {
#define GROUP 32
#define PIXEL u16
#define PIXEL_BYTES 2
#define SUM u32
#define SUM_BYTES 4
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals4x2_u16_u32 {
#define GROUP 32
#define PIXEL u16
#define PIXEL_BYTES 2
#define SUM u32
#define SUM_BYTES 4
#define QUADS 2
#include "tilted.cl"
}

namespace tilted_totals_u32_u64 {
#define GROUP 128
#define PIXEL u32
#define PIXEL_BYTES 4
#define SUM u64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_u32_u64 {
#define GROUP 32
#define PIXEL u32
#define PIXEL_BYTES 4
#define SUM u64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_u32_u32 {
#define GROUP 256
#define PIXEL u32
#define PIXEL_BYTES 4
#define SUM u32
#define SUM_BYTES 4
#include "tilted.cl"
}

namespace tilted_totals4x1_u32_u32 {
#define GROUP 32
#define PIXEL u32
#define PIXEL_BYTES 4
#define SUM u32
#define SUM_BYTES 4
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals4x2_u32_u32 {
#define GROUP 32
#define PIXEL u32
#define PIXEL_BYTES 4
#define SUM u32
#define SUM_BYTES 4
#define QUADS 2
#include "tilted.cl"
}

namespace tilted_totals_i16_u64 {
#define GROUP 128
#define PIXEL i16
#define PIXEL_BYTES 2
#define SUM u64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_i16_u64 {
#define GROUP 32
#define PIXEL i16
#define PIXEL_BYTES 2
#define SUM u64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_i16_f64 {
#define GROUP 128
#define PIXEL i16
#define PIXEL_BYTES 2
#define SUM f64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_i16_f64 {
#define GROUP 32
#define PIXEL i16
#define PIXEL_BYTES 2
#define SUM f64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_i32_u64 {
#define GROUP 128
#define PIXEL i32
#define PIXEL_BYTES 4
#define SUM u64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_i32_u64 {
#define GROUP 32
#define PIXEL i32
#define PIXEL_BYTES 4
#define SUM u64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_f32_f64 {
#define GROUP 128
#define PIXEL f32
#define PIXEL_BYTES 4
#define SUM f64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_f32_f64 {
#define GROUP 32
#define PIXEL f32
#define PIXEL_BYTES 4
#define SUM f64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_f32_f32 {
#define GROUP 256
#define PIXEL f32
#define PIXEL_BYTES 4
#define SUM f32
#define SUM_BYTES 4
#include "tilted.cl"
}

namespace tilted_totals4x1_f32_f32 {
#define GROUP 32
#define PIXEL f32
#define PIXEL_BYTES 4
#define SUM f32
#define SUM_BYTES 4
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals4x2_f32_f32 {
#define GROUP 32
#define PIXEL f32
#define PIXEL_BYTES 4
#define SUM f32
#define SUM_BYTES 4
#define QUADS 2
#include "tilted.cl"
}

namespace tilted_totals_f64_f64 {
#define GROUP 128
#define PIXEL f64
#define PIXEL_BYTES 8
#define SUM f64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals4x1_f64_f64 {
#define GROUP 32
#define PIXEL f64
#define PIXEL_BYTES 8
#define SUM f64
#define SUM_BYTES 8
#define QUADS 1
#include "tilted.cl"
}

namespace tilted_totals_u32_f64 {
#define GROUP 128
#define PIXEL u32
#define PIXEL_BYTES 4
#define SUM f64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_totals_i32_f64 {
#define GROUP 128
#define PIXEL i32
#define PIXEL_BYTES 4
#define SUM f64
#define SUM_BYTES 8
#include "tilted.cl"
}

namespace tilted_lines_u32 {
#define GROUP 256
#define ACCUMULATOR u32
#include "diagonals.cl"
}

namespace tilted_lines_u64 {
#define GROUP 128
#define ACCUMULATOR u64
#include "diagonals.cl"
}

namespace tilted_lines_f32 {
#define GROUP 256
#define ACCUMULATOR f32
#include "diagonals.cl"
}

namespace tilted_lines_f64 {
#define GROUP 128
#define ACCUMULATOR f64
#include "diagonals.cl"
}

namespace tilted_sums_u32 {
#define GROUP 512
#define ACCUMULATOR u32
#include "tilted_sums.cl"
}

namespace tilted_sums_u64 {
#define GROUP 512
#define ACCUMULATOR u64
#include "tilted_sums.cl"
}

namespace tilted_sums_f32 {
#define GROUP 512
#define ACCUMULATOR f32
#include "tilted_sums.cl"
}

namespace tilted_sums_f64 {
#define GROUP 512
#define ACCUMULATOR f64
#include "tilted_sums.cl"
}
