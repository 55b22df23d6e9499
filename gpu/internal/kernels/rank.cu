// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "rank.h"

namespace rank_mean_u8 {
#define GROUP 128
#define PIXEL u8
#define MEAN 1
#include "rank.cl"
}

namespace rank_mean_u16 {
#define GROUP 128
#define PIXEL u16
#define MEAN 1
#include "rank.cl"
}

namespace rank_percentile_u8_f64 {
#define GROUP 64
#define PIXEL u8
#define PERCENTILE 1
#include "rank.cl"
}

namespace rank_equalize_u8 {
#define GROUP 64
#define PIXEL u8
#define EQUALIZE 1
#include "rank.cl"
}
