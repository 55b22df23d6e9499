package main

// An elem is a type of pixels or sums.
type elem struct {
	name, goType string
	size         int
}

var (
	u8  = elem{"u8", "uint8", 1}
	u16 = elem{"u16", "uint16", 2}
	i16 = elem{"i16", "int16", 2}
	i32 = elem{"i32", "int32", 4}
	u32 = elem{"u32", "uint32", 4}
	u64 = elem{"u64", "uint64", 8}
	i64 = elem{"i64", "int64", 8}
	f32 = elem{"f32", "float32", 4}
	f64 = elem{"f64", "float64", 8}
)

// An op is one kernel: which pixels it adds up in which sums.
type op struct {
	pix, sum elem
	square   bool
	dot      bool // one channel of bytes, summed by dot products in 32 bits
	plain    bool // pixels as they are, without an offset
	upright  bool // of images only: neither tilted nor of volumes
}

var ops = []op{
	{pix: u8, sum: u32},
	{pix: u8, sum: u32, dot: true},
	{pix: u8, sum: u64},
	{pix: u8, sum: u64, dot: true},
	{pix: u8, sum: f32},
	{pix: u8, sum: f64},
	{pix: u8, sum: f64, dot: true},
	{pix: u16, sum: u64},
	{pix: u16, sum: f64},
	{pix: u32, sum: u32},
	{pix: u32, sum: u64},
	{pix: i16, sum: i64},
	{pix: i32, sum: i64},
	{pix: f32, sum: f32},
	{pix: f32, sum: f64},
	{pix: f64, sum: f64},
	{pix: u8, sum: u64, square: true},
	{pix: u8, sum: f64, square: true, upright: true},
	{pix: u16, sum: u64, square: true},
	{pix: u16, sum: f64, square: true, upright: true},
	{pix: u32, sum: u64, square: true},
	{pix: u32, sum: f64, square: true},
	{pix: i16, sum: u64, square: true},
	{pix: i32, sum: u64, square: true},
	{pix: i32, sum: f64, square: true},
	{pix: f32, sum: f64, square: true},
	{pix: f64, sum: f64, square: true},
}

func (o op) name() string {
	switch {
	case o.square && o.sum == f64 && o.pix != f32 && o.pix != f64:
		return o.pix.name + "FloatSquares"
	case o.square:
		return o.pix.name + "Squares"
	case o.dot:
		return o.pix.name + o.sum.name + "Dot"
	}
	return o.pix.name + o.sum.name
}
