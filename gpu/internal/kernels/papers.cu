// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "papers.h"

namespace papers_transpose_f32 {
#define GROUP 256
#define ELEMENT f32
#define STREAMS 1
#include "papers.cl"
}

namespace papers_transpose_f64 {
#define GROUP 256
#define ELEMENT f64
#include "papers.cl"
}

namespace papers_transpose_u32 {
#define GROUP 256
#define ELEMENT u32
#include "papers.cl"
}

namespace papers_transpose_f32x4 {
#define GROUP 256
#define ELEMENT f32x4
#define FOUR 1
#include "papers.cl"
}
