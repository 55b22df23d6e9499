// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "ssim.h"

namespace ssim_narrow_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SQUARE u32
#define WORD u32
#define NARROW 1
#include "ssim.cl"
}

namespace ssim_wide_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SQUARE u32
#define WORD u64
#include "ssim.cl"
}

namespace ssim_wide_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SQUARE u64
#define WORD u64
#include "ssim.cl"
}

namespace ssim_total_f64 {
#define GROUP 128
#define TOTAL 1
#include "ssim.cl"
}
