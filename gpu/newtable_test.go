package gpu

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/fixture"
)

// TestNewTable checks that large new tables are laid out like others, and are zero outside of the
// sums, whatever their memory held before.
func TestNewTable(t *testing.T) {
	for _, size := range [][3]int{{5, 4, 1}, {1200, 1100, 1}, {337, 1500, 3}, {0, 100_000, 1}, {1, 1 << 20, 1}, {31, 30_000, 4}, {32, 30_000, 4}} {
		got, err := transfer.NewTable[uint32](size[0], size[1], size[2])
		if err != nil {
			t.Fatal(err)
		}
		want, err := boxsum.NewTable[uint32](size[0], size[1], size[2])
		if err != nil {
			t.Fatal(err)
		}
		if got.Width != want.Width || got.Height != want.Height || got.Channels != want.Channels || got.Stride != want.Stride || len(got.Sums) != len(want.Sums) {
			t.Errorf("%v: %d entries, %d apart, want %d and %d", size, len(got.Sums), got.Stride, len(want.Sums), want.Stride)
		}
		if at := uintptr(unsafe.Pointer(&got.Sums[size[2]])); size[0] > 200 && at%64 != 0 {
			t.Errorf("%v: entry (1, 0) does not start a line", size)
		}
	}
	if _, err := transfer.NewTable[uint64](math.MaxInt32, 1, 4); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("too large a table gives %v", err)
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		for _, size := range [][2]int{{1203, 900}, {0, 100_000}} {
			im := fixture.Noise[uint8](1, size[0], size[1], 1, 0)
			want, err := boxsum.IntegrateSquares[uint32, uint64](im, nil)
			if err != nil {
				t.Fatal(err)
			}
			check := func(how string, got *boxsum.SquaredTable[uint32, uint64], err error) {
				if err == nil {
					err = errors.Join(fixture.SameTables(got.Sum, want.Sum), fixture.SameTables(got.Squares, want.Squares), gaps(got.Sum), gaps(got.Squares))
				}
				if err != nil {
					t.Errorf("%v, %s: %v", size, how, err)
				}
			}
			for range 4 { // the next one reuses memory that holds no zeros
				got, err := boxsum.IntegrateSquares[uint32, uint64](im, &boxsum.Options{On: d})
				check("in bands", got, err)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got.Sum.Sums {
					got.Sum.Sums[i] = math.MaxUint32
				}
				for i := range got.Squares.Sums {
					got.Squares.Sums[i] = math.MaxUint64
				}
				runtime.GC()
			}
			for got, err := range PipelineSquares[uint32, uint64](t.Context(), d, func(yield func(boxsum.Image[uint8]) bool) { yield(im) }, nil) {
				check("in a pipeline", got, err)
				for _, s := range [][]uint32{got.Sum.Sums} { // for the next user of the memory
					for i := range s {
						s[i] = math.MaxUint32
					}
				}
			}
		}
	})
}

// gaps returns an error if the gaps between the rows of a table are not zero.
func gaps[S boxsum.Sum](t *boxsum.Table[S]) error {
	row := (t.Width + 1) * t.Channels
	for i, v := range t.Sums {
		if i%t.Stride >= row && v != 0 {
			return errors.New("there is something between the rows")
		}
	}
	return nil
}
