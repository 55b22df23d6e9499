// The blocks in which scores of windows are added; see package quality.
#ifndef SSIM_H
#define SSIM_H

#include "filter.h"
#include "jobs/ssim.h"

#define BLOCK_COLUMNS 8
#define BLOCK_ROWS 32
#define BLOCK_SUMS 32

#endif
