// Code generated from made.tmpl. DO NOT EDIT.

package rotated

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var fills = [...]any{
	1:  fill[uint32, uint8],
	2:  fill[uint64, uint8],
	3:  fill[float32, uint8],
	4:  fill[float64, uint8],
	5:  fill[int64, uint8],
	6:  fill[uint64, uint16],
	7:  fill[float64, uint16],
	8:  fill[uint32, uint16],
	9:  fill[uint64, uint32],
	10: fill[uint32, uint32],
	11: fill[int64, int16],
	12: fill[float64, int16],
	13: fill[int64, int32],
	14: fill[float64, float32],
	15: fill[float32, float32],
	16: fill[float64, float64],
}
