package jobs

// A Tensor is planes of floats and where their sums go, for the kernels of batches, see tensor.h. Sizes and strides are
// those of one plane; the address of sums is that of the first one, and of a table that of the zero before it.
type Tensor struct {
	In                    uint64 `c:"const char*"`
	Out                   uint64 `c:"char*"`
	InStride, InBatch     int64
	OutStride, OutBatch   int64
	Width, Height, Count  int32
	InAligned, OutAligned int32
	Gap                   int32 // a sector after each row of a table may be written, but for the last of a plane
	Bands, BandRow        int32 // of rows
}

// A TensorWindow is planes of floats, the windows whose sums are wanted, and where these go.
type TensorWindow struct {
	In                  uint64 `c:"const char*"`
	Out                 uint64 `c:"char*"`
	InStride, InBatch   int64
	OutStride, OutBatch int64
	Factor              float64
	Width, Height       int32 // of the planes
	Columns, Rows       int32 // of the results
	Across, Down        int32 // of a window
	Left, Top           int32 // how far before its pixel it begins
	Count               int32
	Strips, Results     int32 // strips of columns, and how many results each has
	Bands, BandRow      int32
	Aligned             int32 // four pixels can be read at once
	Clip                int32 // sums are divided by the pixels of the window that are in the plane, whatever the factor
}
