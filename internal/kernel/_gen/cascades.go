package main

// cascadeRoutines lists the assembly routines of package cascades, which cascade.go documents. The
// last four use 256-bit vectors at every level.
var cascadeRoutines = []routine{
	{"haarStumps", haarStage(false)},
	{"haarChains", haarStage(true)},
	{"lbpStumps", lbpStumps},
	{"flat", flatNorms},
	{"haarNorms", haarNorms},
	{"blendRows", blendRows},
	{"blendColumns", blendColumns},
	{"cascadeRow", cascadeRow},
	{"tiltedRow", cascadeTilted},
}
