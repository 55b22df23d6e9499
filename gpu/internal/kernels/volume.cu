// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "job.h"
#include "jobs/volume.h"

namespace volume_finish_u8_u32 {
#define GROUP 256
#define PIXEL u8
#define SUM u32
#include "volume.cl"
}

namespace volume_finish_u8_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#include "volume.cl"
}

namespace volume_finish_u8_f32 {
#define GROUP 256
#define PIXEL u8
#define SUM f32
#define TAKE_OFFSET 1
#include "volume.cl"
}

namespace volume_finish_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#include "volume.cl"
}

namespace volume_finish_u16_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#include "volume.cl"
}

namespace volume_finish_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#include "volume.cl"
}

namespace volume_finish_u16_u32 {
#define GROUP 256
#define PIXEL u16
#define SUM u32
#include "volume.cl"
}

namespace volume_finish_u32_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#include "volume.cl"
}

namespace volume_finish_u32_u32 {
#define GROUP 256
#define PIXEL u32
#define SUM u32
#include "volume.cl"
}

namespace volume_finish_i16_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#include "volume.cl"
}

namespace volume_finish_i16_f64 {
#define GROUP 128
#define PIXEL i16
#define SUM f64
#include "volume.cl"
}

namespace volume_finish_i32_u64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#include "volume.cl"
}

namespace volume_finish_f32_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f64
#define FLOAT_PIXEL 1
#include "volume.cl"
}

namespace volume_finish_f32_f32 {
#define GROUP 256
#define PIXEL f32
#define SUM f32
#define FLOAT_PIXEL 1
#include "volume.cl"
}

namespace volume_finish_f64_f64 {
#define GROUP 128
#define PIXEL f64
#define SUM f64
#define FLOAT_PIXEL 1
#include "volume.cl"
}

namespace volume_square_u8_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_u16_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_u32_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_u32_f64 {
#define GROUP 128
#define PIXEL u32
#define SUM f64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_i16_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_i16_f64 {
#define GROUP 128
#define PIXEL i16
#define SUM f64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_i32_u64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_i32_f64 {
#define GROUP 128
#define PIXEL i32
#define SUM f64
#define SQUARED 1
#include "volume.cl"
}

namespace volume_square_f32_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f64
#define SQUARED 1
#define FLOAT_PIXEL 1
#include "volume.cl"
}

namespace volume_square_f64_f64 {
#define GROUP 128
#define PIXEL f64
#define SUM f64
#define SQUARED 1
#define FLOAT_PIXEL 1
#include "volume.cl"
}

namespace volume_boxes_u32 {
#define GROUP 256
#define ACCUMULATOR u32
#include "volumeboxes.cl"
}

namespace volume_boxes_u64 {
#define GROUP 128
#define ACCUMULATOR u64
#include "volumeboxes.cl"
}

namespace volume_boxes_f32 {
#define GROUP 256
#define ACCUMULATOR f32
#include "volumeboxes.cl"
}

namespace volume_boxes_f64 {
#define GROUP 128
#define ACCUMULATOR f64
#include "volumeboxes.cl"
}
