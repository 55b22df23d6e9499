package main

// cascadeRoutines lists the assembly of package cascades, whose cascade.go documents each routine.
// The last four use 256-bit vectors at every level.
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
