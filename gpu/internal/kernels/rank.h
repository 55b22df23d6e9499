// The partition of images by rank filters; see sizes.go.
#ifndef RANK_H
#define RANK_H

#include "filter.h"
#include "jobs/rank.h"

#define RANK_COLUMNS 8 // of a work-item that computes means

#endif
