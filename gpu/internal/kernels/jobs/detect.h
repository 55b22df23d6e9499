// Code generated from detect.go. DO NOT EDIT.
#ifndef JOBS_DETECT_H
#define JOBS_DETECT_H

// A Detect is images of bytes and the search of a cascade in all their layers, see detect.cl.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 tableDistance; // entries of the tables of an image, of one kind
	i64 plane; // of those of all images
	i64 area; // of the part of a window that its norm is from
	f32 most; // the largest norm of a window that is not flat
	i32 channels, red, blue;
	i32 images, layers;
	i32 tableRows, tableColumns; // of all layers
	i32 windowRows, words;
	i32 kinds; // of tables: sums, squares, tilted sums
	i32 normSum[4]; // its corners
	i32 first, end, last; // stages of a launch, and whether they are the last
	i32 list, to; // whether windows come from a list, and the counters of both lists
	i32 room; // of results
} Detect;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Detect) == 136, "Go has another layout");
#endif

// A DetectLayer is where a layer and its windows are among all.
typedef struct {
	i32 width, height, stride;
	i32 columns, rows, step, rowWords; // of windows: a row has that many words of 32
	i32 table; // its first entry
	i32 tableRow, tableColumn; // its first ones among those of all layers
	i32 windowRow, word;
	i32 axisX, axisY; // where its columns and rows lie in the image
	i32 unused[2];
} DetectLayer;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(DetectLayer) == 64, "Go has another layout");
#endif

// A DetectNode is a Haar-like feature or a local binary pattern. A corner is x + y<<16.
typedef struct {
	i32 corners[16]; // four for each box, or those of three by three blocks
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

// A DetectStage is its trees.
typedef struct {
	i32 first, end;
	f32 threshold;
	i32 unused;
} DetectStage;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(DetectStage) == 16, "Go has another layout");
#endif

// A DetectTree is its first node and its first leaf.
typedef struct {
	i32 node, leaf;
} DetectTree;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(DetectTree) == 8, "Go has another layout");
#endif

#endif
