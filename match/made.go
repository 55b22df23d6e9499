// Code generated from made.tmpl. DO NOT EDIT.

package match

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var runs = [...]any{
	1: runTask[uint8],
	2: runTask[uint16],
	8: runTask[float32],
	9: runTask[float64],
}
