// Code generated from the list of package pairs. DO NOT EDIT.

package kernel_test

var squareTests = []pairTest{
	squareTest[uint8, uint64](),
	squareTest[uint8, float64](),
	squareTest[uint16, uint64](),
	squareTest[uint16, float64](),
	squareTest[uint32, uint64](),
	squareTest[uint32, float64](),
	squareTest[int16, uint64](),
	squareTest[int16, float64](),
	squareTest[int32, uint64](),
	squareTest[int32, float64](),
	squareTest[float32, float64](),
	squareTest[float64, float64](),
}
