// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "jobs/hog.h"

namespace hog_gradients_f64 {
#define GROUP 128
#define GRADIENTS 1
#include "hog.cl"
}

namespace hog_blocks_f64 {
#define GROUP 128
#define BLOCKS 1
#define CHUNK 18
#include "hog.cl"
}

namespace hog_normalize_f64 {
#define GROUP 128
#define NORMALIZE 1
#include "hog.cl"
}

namespace hog_scores_f64 {
#define GROUP 128
#define SCORES 1
#include "hog.cl"
}
