// Code generated from made.tmpl. DO NOT EDIT.

package rotated

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var fills = [...]any{
	3: fill[uint32],
	4: fill[uint64],
	7: fill[int64],
	8: fill[float32],
	9: fill[float64],
}
