package jobs

// Slices is what the kernels of volumes need in addition to the Job of a slice. Images of the Job
// are slices of the volume, and its tables are those of the volume's table, including the one
// before the first slice. Carry is 1 if that one is an input; otherwise it is zero.
type Slices struct {
	Depth, _ int32
}

// Blocks is the position and size of a volume's table, in bytes, and the number of boxes.
type Blocks struct {
	Start, Stride, Slice int64
	Channels, Count      int64
}
