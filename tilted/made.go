// Code generated from made.tmpl. DO NOT EDIT.

package tilted

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var tables = [...]any{
	3: integrate[uint32],
	4: integrate[uint64],
	7: integrate[int64],
	8: integrate[float32],
	9: integrate[float64],
}

var squaredTables = [...]any{
	34: squares[uint32, uint64],
	39: squares[uint32, float64],
	44: squares[uint64, uint64],
	49: squares[uint64, float64],
	74: squares[int64, uint64],
	79: squares[int64, float64],
	84: squares[float32, uint64],
	89: squares[float32, float64],
	94: squares[float64, uint64],
	99: squares[float64, float64],
}

var streams = [...]any{
	3: stream[uint32],
	4: stream[uint64],
	7: stream[int64],
	8: stream[float32],
	9: stream[float64],
}
