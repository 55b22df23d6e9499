// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "histogram.h"
#include "counts.h"

namespace histogram_totals_u8 {
#define GROUP 128
#define PIXEL u8
#define PIXEL_BYTES 1
#include "histogram.cl"
}

namespace histogram_totals_u16 {
#define GROUP 128
#define PIXEL u16
#define PIXEL_BYTES 2
#include "histogram.cl"
}

namespace histogram_totals_u32 {
#define GROUP 128
#define PIXEL u32
#define PIXEL_BYTES 4
#include "histogram.cl"
}

namespace histogram_totals_i16 {
#define GROUP 128
#define PIXEL i16
#define PIXEL_BYTES 2
#include "histogram.cl"
}

namespace histogram_totals_i32 {
#define GROUP 128
#define PIXEL i32
#define PIXEL_BYTES 4
#include "histogram.cl"
}

namespace histogram_totals_f32 {
#define GROUP 128
#define PIXEL f32
#define PIXEL_BYTES 4
#include "histogram.cl"
}

namespace histogram_totals_f64 {
#define GROUP 128
#define PIXEL f64
#define PIXEL_BYTES 8
#include "histogram.cl"
}

namespace histogram_carry_u32 {
#define GROUP 128
#define CARRY 1
#include "counts.cl"
}

namespace histogram_finish_u32 {
#define GROUP 32
#define FINISH 1
#include "counts.cl"
}
