package jobs

// A Tensor is the job of the kernels of batches of float planes, see tensor.h. Sizes and strides
// are those of one plane. Out is the address of the first sum or, for a table, of the zero before
// it.
type Tensor struct {
	In                    uint64 `c:"const char*"`
	Out                   uint64 `c:"char*"`
	InStride, InBatch     int64
	OutStride, OutBatch   int64
	Width, Height, Count  int32
	InAligned, OutAligned int32
	Gap                   int32 // the sector after each row of a table, except a plane's last, may be overwritten
	Bands, BandRow        int32 // of rows
}

// A TensorWindow is the job of the kernels that sum windows of float planes.
type TensorWindow struct {
	In                  uint64 `c:"const char*"`
	Out                 uint64 `c:"char*"`
	InStride, InBatch   int64
	OutStride, OutBatch int64
	Factor              float64
	Width, Height       int32 // of the planes
	Columns, Rows       int32 // of the results
	Across, Down        int32 // of a window
	Left, Top           int32 // how far before its pixel a window begins
	Count               int32
	Strips, Results     int32 // strips of columns, and the number of results in each
	Bands, BandRow      int32
	Aligned             int32 // four pixels can be read at once
	Clip                int32 // divide each sum by the number of the window's pixels inside the plane, and ignore Factor
}
