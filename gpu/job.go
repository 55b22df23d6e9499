package gpu

// An element is a type of pixel, sum or square.
type element uint8

const (
	none element = iota // no squares
	u8
	u16
	u32
	u64
	i16
	i32
	i64
	f32
	f64
)

// elements says what kernels and Go call each type, and its bytes.
var elements = [...]struct {
	name, long string
	bytes      int
}{
	none: {"none", "nothing", 0},
	u8:   {"u8", "uint8", 1},
	u16:  {"u16", "uint16", 2},
	u32:  {"u32", "uint32", 4},
	u64:  {"u64", "uint64", 8},
	i16:  {"i16", "int16", 2},
	i32:  {"i32", "int32", 4},
	i64:  {"i64", "int64", 8},
	f32:  {"f32", "float32", 4},
	f64:  {"f64", "float64", 8},
}

// String is how kernels name the type: u8, f32.
func (e element) String() string { return elements[e].name }

func (e element) bytes() int { return elements[e].bytes }

// elementOf is the element that T is.
func elementOf[T any]() element {
	switch any(*new(T)).(type) {
	case uint8:
		return u8
	case uint16:
		return u16
	case uint32:
		return u32
	case uint64:
		return u64
	case int16:
		return i16
	case int32:
		return i32
	case int64:
		return i64
	case float32:
		return f32
	case float64:
		return f64
	}
	return none
}

// An integrateJob is one call of a kernel, already checked: every size is
// positive and fits an int32, every byte lies in its memory. Jobs return when
// their work is on the stream.
type integrateJob struct {
	stream               stream
	pixel, sum, square   element // square is none where there are no squares
	channels             int
	width, height, count int
	in, out, squares     batch

	// carry makes row 0 of every table an input: the last row of the band
	// above. Otherwise the kernels write zeros there. Column 0 is always
	// written.
	carry bool

	// gaps says that what lies between the rows of tables, and between tables,
	// may be written to.
	gaps bool

	// offset is taken from every pixel before it is summed into a table of
	// float32, and is 0 for all others. Squares are of the pixels as they are.
	offset float64

	// spots lists the tiles of a one-pass kernel to work on, spotCount of
	// them; without any it is all.
	spots     memory
	spotCount int
}

// A batch is where the images or tables of a job lie: image i starts at byte
// offset + i*distance of the plane's memory. The out and squares planes start
// at entry (0, 0).
type batch struct {
	plane
	distance int64
}

// image is where image i lies.
func (b batch) image(i int) plane {
	p := b.plane
	p.offset += int64(i) * b.distance
	return p
}

// A queryJob is one call of the portable kernel that answers boxes from one
// table:
//
//	func (d *Device) portableSumBoxes(job queryJob) error
//
// Box i is four int32, x0 y0 x1 y1, at byte 16*i of boxes: clipped to the image,
// and four zeros where nothing is left. Channel c of its sum,
//
//	T(x1,y1) - T(x0,y1) - T(x1,y0) + T(x0,y0)
//
// taken in this order, is value i*channels+c of out. Offsets are put back on
// the host.
type queryJob struct {
	stream   stream
	sum      element
	channels int
	table    plane // entry (0, 0)
	boxes    memory
	out      memory
	count    int
}
