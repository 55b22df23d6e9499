// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "filter.h"

namespace filter_columns_u8 {
#define GROUP 128
#define PIXEL u8
#define SQUARE u32
#define COLUMNS 1
#include "filter.cl"
}

namespace filter_box_u8 {
#define GROUP 128
#define PIXEL u8
#define SQUARE u32
#define BOX 1
#include "filter.cl"
}

namespace filter_stats_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SQUARE u32
#define STATS 1
#include "filter.cl"
}

namespace filter_sauvola_u8_f64 {
#define GROUP 128
#define PIXEL u8
#define SQUARE u32
#define SAUVOLA 1
#include "filter.cl"
}

namespace filter_columns_u16 {
#define GROUP 128
#define PIXEL u16
#define SQUARE u64
#define COLUMNS 1
#include "filter.cl"
}

namespace filter_box_u16 {
#define GROUP 128
#define PIXEL u16
#define SQUARE u64
#define BOX 1
#include "filter.cl"
}

namespace filter_stats_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SQUARE u64
#define STATS 1
#include "filter.cl"
}

namespace filter_sauvola_u16_f64 {
#define GROUP 128
#define PIXEL u16
#define SQUARE u64
#define SAUVOLA 1
#include "filter.cl"
}
