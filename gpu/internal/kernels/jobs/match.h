// Code generated from match.go. DO NOT EDIT.
#ifndef JOBS_MATCH_H
#define JOBS_MATCH_H

// A Match is the job of template matching in byte images. The template consists of words of four
// pixels, padded with zeros.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 sumT, squaresT; // of the template
	i32 width, height, images; // of the scores
	i32 templateWidth, templateHeight;
	i32 words, method, aligned; // Aligned: words of images are aligned to four bytes
} Match;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Match) == 96, "Go has another layout");
#endif

#endif
