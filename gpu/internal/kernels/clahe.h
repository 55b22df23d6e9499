// The partition of images by the kernels of CLAHE; see sizes.go.
#ifndef CLAHE_H
#define CLAHE_H

#include "filter.h"
#include "jobs/clahe.h"

#define COUNTERS 64   // words with the counts of four levels
#define CLAHE_ROWS 64 // of a band

#endif
