// Written by go test ./gpu/internal/kernels -update, from the list of types there: every
// kernel of package papers for CUDA.

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
