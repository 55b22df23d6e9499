// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "job.h"
#include "lattice.h"

namespace lattice_edges_u32 {
#define GROUP 256
#define ACCUMULATOR u32
#include "lattice_boxes.cl"
}

namespace lattice_edges_u64 {
#define GROUP 128
#define ACCUMULATOR u64
#include "lattice_boxes.cl"
}

namespace lattice_edges_f32 {
#define GROUP 256
#define ACCUMULATOR f32
#include "lattice_boxes.cl"
}

namespace lattice_edges_f64 {
#define GROUP 128
#define ACCUMULATOR f64
#include "lattice_boxes.cl"
}

namespace lattice_lay_u8 {
#define GROUP 256
#define PIXEL u8
#define PIXEL_BYTES 1
#include "lattice.cl"
}

namespace lattice_gray_u8 {
#define GROUP 128
#define PIXEL u8
#define PIXEL_BYTES 1
#include "lattice_gray.cl"
}

namespace lattice_lay_u16 {
#define GROUP 256
#define PIXEL u16
#define PIXEL_BYTES 2
#include "lattice.cl"
}

namespace lattice_gray_u16 {
#define GROUP 128
#define PIXEL u16
#define PIXEL_BYTES 2
#include "lattice_gray.cl"
}

namespace lattice_lay_u32 {
#define GROUP 256
#define PIXEL u32
#define PIXEL_BYTES 4
#include "lattice.cl"
}

namespace lattice_gray_u32 {
#define GROUP 128
#define PIXEL u32
#define PIXEL_BYTES 4
#include "lattice_gray.cl"
}

namespace lattice_lay_u64 {
#define GROUP 256
#define PIXEL u64
#define PIXEL_BYTES 8
#include "lattice.cl"
}

namespace lattice_gray_u64 {
#define GROUP 128
#define PIXEL u64
#define PIXEL_BYTES 8
#include "lattice_gray.cl"
}
