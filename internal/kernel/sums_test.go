// Code generated from the list of package pairs. DO NOT EDIT.

package kernel_test

var sumTests = []pairTest{
	sumTest[uint8, uint32](),
	sumTest[uint8, uint64](),
	sumTest[uint8, float32](),
	sumTest[uint8, float64](),
	sumTest[uint8, int64](),
	sumTest[uint16, uint64](),
	sumTest[uint16, float64](),
	sumTest[uint16, uint32](),
	sumTest[uint32, uint64](),
	sumTest[uint32, uint32](),
	sumTest[int16, int64](),
	sumTest[int16, float64](),
	sumTest[int32, int64](),
	sumTest[float32, float64](),
	sumTest[float32, float32](),
	sumTest[float64, float64](),
}
