// Code generated from made.tmpl. DO NOT EDIT.

package filter

// What follows is compiled here, and nowhere else: see ARCHITECTURE.md.

var guides = [...]any{
	11: guideRowOf[uint8, uint8],
	12: guideRowOf[uint8, uint16],
	18: guideRowOf[uint8, float32],
	19: guideRowOf[uint8, float64],
	21: guideRowOf[uint16, uint8],
	22: guideRowOf[uint16, uint16],
	28: guideRowOf[uint16, float32],
	29: guideRowOf[uint16, float64],
	81: guideRowOf[float32, uint8],
	82: guideRowOf[float32, uint16],
	88: guideRowOf[float32, float32],
	89: guideRowOf[float32, float64],
	91: guideRowOf[float64, uint8],
	92: guideRowOf[float64, uint16],
	98: guideRowOf[float64, float32],
	99: guideRowOf[float64, float64],
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
