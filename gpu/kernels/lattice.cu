// Written by go test ./gpu/kernels -update, from the list of types there: every
// kernel of lattice.go for CUDA.

#include "dialect.h"
#include "job.h"
#include "lattice.h"

namespace lattice_totals_u8_u32 {
#define GROUP 256
#define PIXEL u8
#define SUM u32
#include "lattice.cl"
}

namespace lattice_totals_u8_u64 {
#define GROUP 128
#define PIXEL u8
#define SUM u64
#include "lattice.cl"
}

namespace lattice_totals_u8_f32 {
#define GROUP 256
#define PIXEL u8
#define SUM f32
#include "lattice.cl"
}

namespace lattice_totals_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SUM f64
#include "lattice.cl"
}

namespace lattice_totals_u16_u64 {
#define GROUP 128
#define PIXEL u16
#define SUM u64
#include "lattice.cl"
}

namespace lattice_totals_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SUM f64
#include "lattice.cl"
}

namespace lattice_totals_i16_u64 {
#define GROUP 128
#define PIXEL i16
#define SUM u64
#include "lattice.cl"
}

namespace lattice_totals_i32_u64 {
#define GROUP 128
#define PIXEL i32
#define SUM u64
#include "lattice.cl"
}

namespace lattice_totals_u32_u32 {
#define GROUP 256
#define PIXEL u32
#define SUM u32
#include "lattice.cl"
}

namespace lattice_totals_u32_u64 {
#define GROUP 128
#define PIXEL u32
#define SUM u64
#include "lattice.cl"
}

namespace lattice_totals_f32_f32 {
#define GROUP 256
#define PIXEL f32
#define SUM f32
#include "lattice.cl"
}

namespace lattice_totals_f32_f64 {
#define GROUP 128
#define PIXEL f32
#define SUM f64
#include "lattice.cl"
}

namespace lattice_totals_f64_f64 {
#define GROUP 128
#define PIXEL f64
#define SUM f64
#include "lattice.cl"
}

namespace lattice_boxes_u32 {
#define GROUP 256
#define ACCUMULATOR u32
#include "corners.cl"
}

namespace lattice_boxes_u64 {
#define GROUP 128
#define ACCUMULATOR u64
#include "corners.cl"
}

namespace lattice_boxes_f32 {
#define GROUP 256
#define ACCUMULATOR f32
#include "corners.cl"
}

namespace lattice_boxes_f64 {
#define GROUP 128
#define ACCUMULATOR f64
#include "corners.cl"
}
