package main

// cascadeRoutines lists the assembly of package cascades; cascade.go there says what each does. The last four
// have vectors of 256 bits at every level.
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
