// Code generated from made.tmpl. DO NOT EDIT.

package moments

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var fills = [...]any{
	1: fill[uint8],
	2: fill[uint16],
	3: fill[uint32],
	5: fill[int16],
	6: fill[int32],
	8: fill[float32],
	9: fill[float64],
}
