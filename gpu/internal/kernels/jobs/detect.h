// Code generated from detect.go. DO NOT EDIT.
#ifndef JOBS_DETECT_H
#define JOBS_DETECT_H

// A Detect is the job of a cascade detector on all layers of byte images, see detect.cl.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 tableDistance; // entries of an image's tables of one kind
	i64 plane; // entries of all images' tables of one kind
	i64 area; // of the part of a window whose variance is the norm
	f32 most; // the largest norm of a window that is not flat
	i32 channels, red, blue;
	i32 images, layers;
	i32 tableRows, tableColumns; // over all layers
	i32 windowRows, words;
	i32 kinds; // number of kinds of tables: sums, squares, tilted sums
	i32 normSum[4]; // corners of the norm's box
	i32 first, end, last; // stages of a launch, and whether they include the last
	i32 list, to; // whether windows come from a list; indices of the counters of both lists
	i32 room; // capacity for results
} Detect;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Detect) == 136, "Go has another layout");
#endif

// A DetectLayer is the position of a layer and its windows in the shared arrays.
typedef struct {
	i32 width, height, stride;
	i32 columns, rows, step, rowWords; // of windows; a row has RowWords words of 32 windows
	i32 table; // its first entry
	i32 tableRow, tableColumn; // its first row and column among those of all layers
	i32 windowRow, word;
	i32 axisX, axisY; // where its entries in the axes begin
	i32 unused[2];
} DetectLayer;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(DetectLayer) == 64, "Go has another layout");
#endif

// A DetectNode is a Haar-like feature or a local binary pattern. A corner is x + y<<16.
typedef struct {
	i32 corners[16]; // four for each box, or those of 3×3 blocks
	f32 weights[3];
	f32 threshold;
	i32 left, right; // nodes of the tree, or ^ leaves
	i32 boxes;
	i32 table;
	u32 subset[8];
} DetectNode;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(DetectNode) == 128, "Go has another layout");
#endif

// A DetectStage is a range of trees and a threshold.
typedef struct {
	i32 first, end;
	f32 threshold;
	i32 unused;
} DetectStage;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(DetectStage) == 16, "Go has another layout");
#endif

// A DetectTree is the index of a tree's first node and of its first leaf.
typedef struct {
	i32 node, leaf;
} DetectTree;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(DetectTree) == 8, "Go has another layout");
#endif

#endif
