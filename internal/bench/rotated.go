package bench

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

const (
	// rotatedMark stands before the rotation in the types of a rotated table,
	// and "rotated:1/2" is short for rotatedTypes and a rotation.
	rotatedMark  = "@"
	rotatedWord  = "rotated:"
	rotatedTypes = "u8:u32" + rotatedMark
)

// rotation is that of a rotated table.
func (c Case) rotation() (rot rotated.Rotation, ok bool) {
	_, text, ok := strings.Cut(c.Types, rotatedMark)
	if !ok {
		return rot, false
	}
	rot, err := rotated.Parse(text)
	return rot, err == nil
}

// turned says whether the table of a case is a rotated one.
func (c Case) turned() bool {
	_, ok := c.rotation()
	return ok
}

// rotatedMakers makes the works of rotated tables, by types. The last type of
// each is what the reference adds in.
var rotatedMakers = map[string]func(rotated.Rotation, Size, int) (*work, error){
	"u8:u32":  newRotated[uint8, uint32, int64],
	"u8:u64":  newRotated[uint8, uint64, int64],
	"u8:f32":  newRotated[uint8, float32, float64],
	"u8:f64":  newRotated[uint8, float64, float64],
	"u16:u64": newRotated[uint16, uint64, int64],
	"u16:f64": newRotated[uint16, float64, float64],
	"u32:u64": newRotated[uint32, uint64, int64],
	"u32:u32": newRotated[uint32, uint32, int64],
	"i16:i64": newRotated[int16, int64, int64],
	"i32:i64": newRotated[int32, int64, int64],
	"f32:f64": newRotated[float32, float64, float64],
	"f32:f32": newRotated[float32, float32, float64],
	"f64:f64": newRotated[float64, float64, float64],
}

// rotatedKind is the kind of a rotated table, or nil if the types are of
// another.
func (c Case) rotatedKind() (*kind, error) {
	types, text, ok := strings.Cut(c.Types, rotatedMark)
	if !ok {
		return nil, nil
	}
	rot, err := rotated.Parse(text)
	if err != nil {
		return nil, err
	}
	make, ok := rotatedMakers[types]
	if !ok {
		return nil, fmt.Errorf("unknown types %q of a rotated table: use a pair such as u8:u32"+rotatedMark+"%v", c.Types, rot)
	}
	return &kind{types: c.Types, make: func(size Size, channels int) (*work, error) { return make(rot, size, channels) }}, nil
}

func newRotated[P boxsum.Pixel, S boxsum.Sum, A accumulator](rot rotated.Rotation, size Size, channels int) (*work, error) {
	img, err := randomImage[P, S](size, channels)
	if err != nil {
		return nil, err
	}
	sums, err := rotated.NewTable[S](size.Width, size.Height, channels, rot)
	if err != nil {
		return nil, err
	}
	upright, err := boxsum.NewTable[S](size.Width, size.Height, channels)
	if err != nil {
		return nil, err
	}
	// The limits write as many bytes; where a rotated table has them is its own.
	output := make([]byte, rotatedCells(rot, size)*int64(channels)*int64(unsafe.Sizeof(*new(S))))
	spoil := func() { sums.Fill(func(c, r, channel int) S { return S(3*c + 5*r + 1) }) }
	spoil()
	return &work{
		pixels: bytesOf(img.Pix),
		tables: []table{{
			output: output,
			verify: func() error {
				defer spoil() // for the next time
				return verifyRotated[A](sums, img)
			},
			equal: func(io.Reader, bool) error { return errors.New("rotated tables have no peers") },
		}},
		run: func(opt *boxsum.Options) error { return rotated.IntegrateInto(sums, img, &rotated.Options{Workers: opt.Workers, Level: opt.Level}) },
		upright: &work{
			tables: []table{newUpright[A, S](upright, img, false)},
			run:    func(opt *boxsum.Options) error { return boxsum.IntegrateInto(upright, img, opt) },
		},
	}, nil
}

// rotatedCells is how many sums a rotated table has to hold: one for every pixel,
// and above 3/4 one for every empty cell between them.
func rotatedCells(rot rotated.Rotation, size Size) int64 {
	if rot, err := rot.Reduce(); err == nil {
		a, b := max(rot.A, -rot.A), rot.B
		a, b = min(a, b), max(a, b)
		if slope := func(n int) int64 { return int64(a) * int64(n) / int64(b) }; 4*int64(a) > 3*int64(b) {
			return int64(size.pixels()) + slope(size.Width-1)*slope(size.Height-1)
		}
	}
	return int64(size.pixels())
}

// verifyRotated compares the sum above and left of every cell with a reference
// that knows the definition of rows and columns and nothing of the table.
func verifyRotated[A accumulator, S boxsum.Sum, P boxsum.Pixel](t *rotated.Table[S], img boxsum.Image[P]) error {
	rot, bounds, n := t.Rotation(), t.Bounds(), img.Channels
	a, b, width, height := rot.A, rot.B, img.Width, img.Height
	mirror := a < 0
	if mirror {
		a = -a
	}
	exchange := a > b
	if exchange {
		a, b, width, height = b, a, height, width
	}
	slope := func(n int) int { return int(int64(a) * int64(n) / int64(b)) }
	columns := make([]A, (bounds.C1-bounds.C0)*n) // sums of a column so far
	for r := bounds.R0; r < bounds.R1; r++ {
		for u := range width {
			v := r - slope(u)
			if v < 0 || v >= height {
				continue
			}
			x, y := u, v
			if exchange {
				x, y = v, u
			}
			if mirror {
				x = img.Width - 1 - x
			}
			c := u - slope(v) - bounds.C0
			for ch := range n {
				columns[c*n+ch] += A(img.Pix[y*img.Stride+x*n+ch])
			}
		}
		for ch := range n {
			sum := A(0)
			for c := bounds.C0; c < bounds.C1; c++ {
				sum += columns[(c-bounds.C0)*n+ch]
				box := rotated.Box{C0: bounds.C0, R0: bounds.R0, C1: c + 1, R1: r + 1}
				if got, want := t.SumChannel(box, ch), S(sum); got != want {
					return differs("the reference", (c-bounds.C0)*n+ch, r, n, got, want)
				}
			}
		}
	}
	return nil
}
