// Code generated from made.tmpl. DO NOT EDIT.

package filter

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var runs = [...]any{
	11: runTask[uint8, uint8],
	22: runTask[uint16, uint16],
	81: runTask[float32, uint8],
	82: runTask[float32, uint16],
	91: runTask[float64, uint8],
	92: runTask[float64, uint16],
}

var sumRuns = [...]any{
	12: runTask[uint8, uint16],
	21: runTask[uint16, uint8],
	31: runTask[uint32, uint8],
	32: runTask[uint32, uint16],
	51: runTask[int16, uint8],
	52: runTask[int16, uint16],
	61: runTask[int32, uint8],
	62: runTask[int32, uint16],
}

var floatRuns = [...]any{
	88: runFloats[float32, float32],
	89: runFloats[float32, float64],
	98: runFloats[float64, float32],
	99: runFloats[float64, float64],
}

var gaussians = [...]any{
	1: gaussian[uint8],
	2: gaussian[uint16],
	8: gaussian[float32],
	9: gaussian[float64],
}

var guides = [...]any{
	11: guide[uint8, uint8],
	12: guide[uint8, uint16],
	18: guide[uint8, float32],
	19: guide[uint8, float64],
	21: guide[uint16, uint8],
	22: guide[uint16, uint16],
	28: guide[uint16, float32],
	29: guide[uint16, float64],
	81: guide[float32, uint8],
	82: guide[float32, uint16],
	88: guide[float32, float32],
	89: guide[float32, float64],
	91: guide[float64, uint8],
	92: guide[float64, uint16],
	98: guide[float64, float32],
	99: guide[float64, float64],
}

var medianTasks = [...]any{
	1: medianTask[uint8],
	2: medianTask[uint16],
}

var floatMedianTasks = [...]any{
	8: floatMedianTask[float32],
	9: floatMedianTask[float64],
}

var entropyTasks = [...]any{
	81: entropyTask[float32, uint8],
	82: entropyTask[float32, uint16],
	88: entropyTask[float32, float32],
	89: entropyTask[float32, float64],
	91: entropyTask[float64, uint8],
	92: entropyTask[float64, uint16],
	98: entropyTask[float64, float32],
	99: entropyTask[float64, float64],
}

var searches = [...]any{
	1: searchTask[uint8],
	2: searchTask[uint16],
	8: searchTask[float32],
	9: searchTask[float64],
}

var blockTasks = [...]any{
	1: blockTask[uint8],
	2: blockTask[uint16],
	8: blockTask[float32],
	9: blockTask[float64],
}

var radiiTasks = [...]any{
	11: radiiTask[uint8, uint8],
	12: radiiTask[uint8, uint16],
	13: radiiTask[uint8, uint32],
	21: radiiTask[uint16, uint8],
	22: radiiTask[uint16, uint16],
	23: radiiTask[uint16, uint32],
	81: radiiTask[float32, uint8],
	82: radiiTask[float32, uint16],
	83: radiiTask[float32, uint32],
	91: radiiTask[float64, uint8],
	92: radiiTask[float64, uint16],
	93: radiiTask[float64, uint32],
}

var streams = [...]any{
	11: streamTask[uint8, uint8],
	22: streamTask[uint16, uint16],
	81: streamTask[float32, uint8],
	82: streamTask[float32, uint16],
	91: streamTask[float64, uint8],
	92: streamTask[float64, uint16],
}

var floatStreams = [...]any{
	88: streamFloats[float32, float32],
	89: streamFloats[float32, float64],
	98: streamFloats[float64, float32],
	99: streamFloats[float64, float64],
}
