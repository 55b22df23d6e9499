package jobs

// Slices is what the kernels of volumes have beside the Job of a slice. Images of the
// Job are slices of the volume, and its tables those of the volume's table from the
// one before the first slice on. Its carry is 1 where that one is an input; otherwise
// it is zero.
type Slices struct {
	Depth, _ int32
}

// Blocks is how large a volume's table is, in bytes, and how many boxes there are.
type Blocks struct {
	Start, Stride, Slice int64
	Channels, Count      int64
}
