// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 6.3 for compute capability 75.

#include "dialect.h"
#include "jobs/match.h"

namespace match_scores_u8_f64 {
#define GROUP 128
#include "match.cl"
}
