// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "nlm.h"

namespace nlm_extend {
#define GROUP 128
#define EXTEND 1
#include "nlm.cl"
}

namespace nlm_gray_u8 {
#define GROUP 128
#define PIXEL u8
#define ROWS 8
#define CHANNELS 1
#define SUM u32
#include "nlm.cl"
}

namespace nlm_gray_u16 {
#define GROUP 128
#define PIXEL u16
#define ROWS 8
#define CHANNELS 1
#define SUM u64
#include "nlm.cl"
}

namespace nlm_any_u8 {
#define GROUP 128
#define PIXEL u8
#define ROWS 4
#define CHANNELS 4
#define SUM u64
#include "nlm.cl"
}

namespace nlm_any_u16 {
#define GROUP 128
#define PIXEL u16
#define ROWS 4
#define CHANNELS 4
#define SUM u64
#include "nlm.cl"
}
