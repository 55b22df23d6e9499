// Code generated from made.tmpl. DO NOT EDIT.

package volume

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var tables = [...]any{
	1:  integrate[uint32, uint64, uint8],
	2:  integrate[uint64, uint64, uint8],
	3:  integrate[float32, uint64, uint8],
	4:  integrate[float64, uint64, uint8],
	5:  integrate[int64, uint64, uint8],
	6:  integrate[uint64, uint64, uint16],
	7:  integrate[float64, uint64, uint16],
	8:  integrate[uint32, uint64, uint16],
	9:  integrate[uint64, uint64, uint32],
	10: integrate[uint32, uint64, uint32],
	11: integrate[int64, uint64, int16],
	12: integrate[float64, uint64, int16],
	13: integrate[int64, uint64, int32],
	14: integrate[float64, float64, float32],
	15: integrate[float32, float64, float32],
	16: integrate[float64, float64, float64],
}

var squaredTables = [...]any{
	1:  squares[uint32, uint64, uint8],
	2:  squares[uint64, uint64, uint8],
	3:  squares[float32, uint64, uint8],
	4:  squares[float64, uint64, uint8],
	5:  squares[int64, uint64, uint8],
	6:  squares[uint64, uint64, uint16],
	7:  squares[float64, uint64, uint16],
	8:  squares[uint32, uint64, uint16],
	9:  squares[uint64, uint64, uint32],
	10: squares[uint32, uint64, uint32],
	11: squares[int64, uint64, int16],
	12: squares[float64, uint64, int16],
	13: squares[int64, uint64, int32],
	14: squares[float64, float64, float32],
	15: squares[float32, float64, float32],
	16: squares[float64, float64, float64],
}

var otherSquaredTables = [...]any{
	1:  squares[uint32, float64, uint8],
	2:  squares[uint64, float64, uint8],
	3:  squares[float32, float64, uint8],
	4:  squares[float64, float64, uint8],
	5:  squares[int64, float64, uint8],
	6:  squares[uint64, float64, uint16],
	7:  squares[float64, float64, uint16],
	8:  squares[uint32, float64, uint16],
	9:  squares[uint64, float64, uint32],
	10: squares[uint32, float64, uint32],
	11: squares[int64, float64, int16],
	12: squares[float64, float64, int16],
	13: squares[int64, float64, int32],
	14: squares[float64, uint64, float32],
	15: squares[float32, uint64, float32],
	16: squares[float64, uint64, float64],
}

var streams = [...]any{
	1:  newStream[uint32, uint64, uint8],
	2:  newStream[uint64, uint64, uint8],
	3:  newStream[float32, uint64, uint8],
	4:  newStream[float64, uint64, uint8],
	5:  newStream[int64, uint64, uint8],
	6:  newStream[uint64, uint64, uint16],
	7:  newStream[float64, uint64, uint16],
	8:  newStream[uint32, uint64, uint16],
	9:  newStream[uint64, uint64, uint32],
	10: newStream[uint32, uint64, uint32],
	11: newStream[int64, uint64, int16],
	12: newStream[float64, uint64, int16],
	13: newStream[int64, uint64, int32],
	14: newStream[float64, float64, float32],
	15: newStream[float32, float64, float32],
	16: newStream[float64, float64, float64],
}

var squaredStreams = [...]any{
	1:  newSquaredStream[uint32, uint64, uint8],
	2:  newSquaredStream[uint64, uint64, uint8],
	3:  newSquaredStream[float32, uint64, uint8],
	4:  newSquaredStream[float64, uint64, uint8],
	5:  newSquaredStream[int64, uint64, uint8],
	6:  newSquaredStream[uint64, uint64, uint16],
	7:  newSquaredStream[float64, uint64, uint16],
	8:  newSquaredStream[uint32, uint64, uint16],
	9:  newSquaredStream[uint64, uint64, uint32],
	10: newSquaredStream[uint32, uint64, uint32],
	11: newSquaredStream[int64, uint64, int16],
	12: newSquaredStream[float64, uint64, int16],
	13: newSquaredStream[int64, uint64, int32],
	14: newSquaredStream[float64, float64, float32],
	15: newSquaredStream[float32, float64, float32],
	16: newSquaredStream[float64, float64, float64],
}

var otherSquaredStreams = [...]any{
	1:  newSquaredStream[uint32, float64, uint8],
	2:  newSquaredStream[uint64, float64, uint8],
	3:  newSquaredStream[float32, float64, uint8],
	4:  newSquaredStream[float64, float64, uint8],
	5:  newSquaredStream[int64, float64, uint8],
	6:  newSquaredStream[uint64, float64, uint16],
	7:  newSquaredStream[float64, float64, uint16],
	8:  newSquaredStream[uint32, float64, uint16],
	9:  newSquaredStream[uint64, float64, uint32],
	10: newSquaredStream[uint32, float64, uint32],
	11: newSquaredStream[int64, float64, int16],
	12: newSquaredStream[float64, float64, int16],
	13: newSquaredStream[int64, float64, int32],
	14: newSquaredStream[float64, uint64, float32],
	15: newSquaredStream[float32, uint64, float32],
	16: newSquaredStream[float64, uint64, float64],
}
