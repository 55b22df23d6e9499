// What the kernels of non-local means share; see package denoise.
#ifndef NLM_H
#define NLM_H

#include "filter.h"
#include "jobs/nlm.h"

#endif
