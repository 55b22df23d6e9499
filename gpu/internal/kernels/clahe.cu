// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "clahe.h"

namespace clahe_count_u8 {
#define GROUP 128
#define PIXEL u8
#define COUNT 1
#define LOCAL_COUNTS 1
#include "clahe.cl"
}

namespace clahe_map_u8 {
#define GROUP 128
#define PIXEL u8
#define MAP 1
#define WORD u32
#define LOCAL_TABLES 1
#include "clahe.cl"
}

namespace clahe_count_u16 {
#define GROUP 128
#define PIXEL u16
#define COUNT 1
#include "clahe.cl"
}

namespace clahe_map_u16 {
#define GROUP 128
#define PIXEL u16
#define MAP 1
#define WORD u64
#include "clahe.cl"
}

namespace clahe_tables {
#define GROUP 128
#define TABLES 1
#include "clahe.cl"
}
