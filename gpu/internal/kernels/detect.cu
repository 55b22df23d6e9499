// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "jobs/detect.h"

namespace detect_rows {
#define GROUP 128
#define ROWS 1
#include "detect.cl"
}

namespace detect_columns {
#define GROUP 128
#define COLUMNS 1
#include "detect.cl"
}

namespace detect_diagonals {
#define GROUP 128
#define DIAGONALS 1
#include "detect.cl"
}

namespace detect_skip {
#define GROUP 128
#define SKIP 1
#include "detect.cl"
}

namespace detect_first_haar_f64 {
#define GROUP 128
#define FIRST 1
#include "detect.cl"
}

namespace detect_first_patterns_f64 {
#define GROUP 128
#define FIRST 1
#define PATTERNS 1
#include "detect.cl"
}

namespace detect_stages_haar_f64 {
#define GROUP 128
#define STAGES 1
#include "detect.cl"
}

namespace detect_stages_patterns_f64 {
#define GROUP 128
#define STAGES 1
#define PATTERNS 1
#include "detect.cl"
}
