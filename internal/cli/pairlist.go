// Code generated from the list of package pairs. DO NOT EDIT.

package cli

// allPairs are all the tables that boxsum makes. The first pair of a pixel type is its default.
var allPairs = []pair{
	pairOf[uint8, uint32, uint64](),
	pairOf[uint8, uint64, uint64](),
	pairOf[uint8, float32, uint64](),
	pairOf[uint8, float64, uint64](),
	pairOf[uint8, int64, uint64](),
	pairOf[uint16, uint64, uint64](),
	pairOf[uint16, float64, uint64](),
	pairOf[uint16, uint32, uint64](),
	pairOf[uint32, uint64, uint64](),
	pairOf[uint32, uint32, uint64](),
	pairOf[int16, int64, uint64](),
	pairOf[int16, float64, uint64](),
	pairOf[int32, int64, uint64](),
	pairOf[float32, float64, float64](),
	pairOf[float32, float32, float64](),
	pairOf[float64, float64, float64](),
}
