package gpu

import (
	"errors"
	"image"
	"math"
	"strconv"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
)

func TestErrors(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		other := open(t, d.Info())
		pixels := fixture.Noise[uint8](1, 6, 5, 2, 0)
		im := upload(t, d, pixels, pixels)
		table, err := Integrate[uint32](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		closed := upload(t, d, pixels, pixels)
		closed.Close()
		elsewhere := upload(t, other, pixels, pixels)
		single := upload(t, d, pixels)
		floats := upload(t, d, fixture.Noise[float32](1, 6, 5, 2, 0))
		wide := fixture.Noise[uint8](1, 7, 5, 2, 0)
		short := pixels
		short.Pix = short.Pix[:len(short.Pix)-1]
		narrow := pixels
		narrow.Stride = 11
		smaller, err := boxsum.NewTable[uint32](5, 5, 2)
		if err != nil {
			t.Fatal(err)
		}
		both, err := Integrate[uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		cut := &boxsum.Table[uint32]{Sums: make([]uint32, 83), Width: 6, Height: 5, Channels: 2}
		one := []image.Rectangle{image.Rect(0, 0, 1, 1)}

		for _, test := range []struct {
			name string
			err  error
			want error
		}{
			{"nil device", second(NewImage[uint8](nil, 1, 1, 1, 1)), ErrNoDevice},
			{"negative width", second(NewImage[uint8](d, -1, 1, 1, 1)), boxsum.ErrInvalid},
			{"negative height", second(NewTable[uint32](d, 1, -1, 1, 1)), boxsum.ErrInvalid},
			{"negative channels", second(NewTable[uint32](d, 1, 1, -1, 1)), boxsum.ErrInvalid},
			{"no images", second(NewImage[uint8](d, 1, 1, 1, 0)), boxsum.ErrInvalid},
			{"width times channels", second(NewImage[uint8](d, math.MaxInt32/2, 1, 3, 1)), boxsum.ErrInvalid},
			{"every size at its largest", second(NewTable[float64](d, math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt)), boxsum.ErrInvalid},
			{"more bytes than there are addresses", second(NewTable[float64](d, 1<<30, 1<<30, 1, 1<<30)), boxsum.ErrInvalid},
			{"nothing to upload", second(Upload[uint8](d)), boxsum.ErrInvalid},
			{"upload of different sizes", second(Upload(d, pixels, wide)), boxsum.ErrInvalid},
			{"short buffer", second(Upload(d, short)), boxsum.ErrInvalid},
			{"more pixels than there are", second(Upload(d, boxsum.Image[uint8]{Width: 1 << 20, Height: 1 << 20})), boxsum.ErrInvalid},
			{"more pixels than there are in the last image", second(Upload(d, boxsum.Image[uint8]{Width: 1 << 20}, boxsum.Image[uint8]{Width: 1 << 20, Height: 1 << 20})), boxsum.ErrInvalid},
			{"short stride", second(Upload(d, narrow)), boxsum.ErrInvalid},
			{"image 2 of 2", im.Set(2, pixels), boxsum.ErrInvalid},
			{"image -1", im.Set(-1, pixels), boxsum.ErrInvalid},
			{"set of another size", im.Set(0, wide), boxsum.ErrInvalid},
			{"set of a nil image", (*Image[uint8])(nil).Set(0, pixels), boxsum.ErrInvalid},
			{"set of a closed image", closed.Set(0, pixels), boxsum.ErrClosed},
			{"integrate nothing", second(Integrate[uint32, uint8](nil, nil)), boxsum.ErrInvalid},
			{"integrate nothing into something", IntegrateInto[uint32, uint8](table, nil, nil), boxsum.ErrInvalid},
			{"integrate into nothing", IntegrateInto[uint32](nil, im, nil), boxsum.ErrInvalid},
			{"integrate closed", second(Integrate[uint32](closed, nil)), boxsum.ErrClosed},
			{"integrate on two devices", IntegrateInto(table, elsewhere, nil), boxsum.ErrInvalid},
			{"integrate one into two", IntegrateInto(table, single, nil), boxsum.ErrInvalid},
			{"no such pair", second(Integrate[uint32](floats, nil)), boxsum.ErrTypes},
			{"no such squares", second(IntegrateSquares[float32, uint64](floats, nil)), boxsum.ErrTypes},
			{"squares into nothing", IntegrateSquaresInto[uint32, uint64](nil, im, nil), boxsum.ErrInvalid},
			{"squares into half", IntegrateSquaresInto(&SquaredTable[uint32, uint64]{Sum: table}, im, nil), boxsum.ErrInvalid},
			{"squares over sums", IntegrateSquaresInto(&SquaredTable[uint64, uint64]{both, both}, im, nil), boxsum.ErrOverlap},
			{"offset of integers", second(Integrate[uint32](im, &Options{Offset: 1})), boxsum.ErrTypes},
			{"offset that is no number", second(Integrate[float32](floats, &Options{Offset: float32(math.NaN())})), boxsum.ErrInvalid},
			{"negative bands", second(boxsum.Integrate[uint32](pixels, &boxsum.Options{On: d, BandRows: -1})), boxsum.ErrInvalid},
			{"unknown kernels", second(Integrate[uint32](im, &Options{Kernels: 9})), boxsum.ErrTypes},
			{"fast kernels for six channels", second(Integrate[uint32](upload(t, d, fixture.Noise[uint8](1, 4, 4, 6, 0)), &Options{Kernels: Fast})), boxsum.ErrTypes},
			{"download 2 of 2", second(table.Download(2)), boxsum.ErrInvalid},
			{"download of nothing", second((*Table[uint32])(nil).Download(0)), boxsum.ErrInvalid},
			{"download into nothing", table.DownloadInto(0, nil), boxsum.ErrInvalid},
			{"download into a smaller table", table.DownloadInto(0, smaller), boxsum.ErrInvalid},
			{"download into a short buffer", table.DownloadInto(0, cut), boxsum.ErrInvalid},
			{"boxes of table 2 of 2", table.SumBoxes(2, make([]uint32, 2), one), boxsum.ErrInvalid},
			{"boxes without room", table.SumBoxes(0, make([]uint32, 1), one), boxsum.ErrInvalid},
			{"host table of nothing", boxsum.IntegrateInto((*boxsum.Table[uint32])(nil), pixels, &boxsum.Options{On: d}), boxsum.ErrInvalid},
			{"host table too small", boxsum.IntegrateInto(smaller, pixels, &boxsum.Options{On: d}), boxsum.ErrInvalid},
			{"host image cut short", second(boxsum.Integrate[uint32](short, &boxsum.Options{On: d})), boxsum.ErrInvalid},
			{"host without device", second(boxsum.Integrate[uint32](pixels, &boxsum.Options{On: (*Device)(nil)})), ErrNoDevice},
			{"host squares into nothing", boxsum.IntegrateSquaresInto[uint32, uint64](nil, pixels, &boxsum.Options{On: d}), boxsum.ErrInvalid},
		} {
			if !errors.Is(test.err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, test.err, test.want)
			}
		}
		if rows := 2 * d.Info().Memory / (1 << 20); rows < math.MaxInt32 && strconv.IntSize == 64 {
			if _, err := NewImage[uint8](d, 1<<20, int(rows), 1, 1); !errors.Is(err, boxsum.ErrMemory) {
				t.Errorf("twice the memory of the device: %v", err)
			}
		}
		if d.Info().Kind != CUDA {
			if _, err := Integrate[uint32](im, &Options{Kernels: Fast}); !errors.Is(err, boxsum.ErrTypes) {
				t.Errorf("one-pass kernels without CUDA: %v", err)
			}
		}
	})
}

// TestCloseOfNothing checks that nil images and tables can be closed, so that Close can be deferred
// without a check.
func TestCloseOfNothing(t *testing.T) {
	for name, err := range map[string]error{
		"device":        (*Device)(nil).Close(),
		"image":         (*Image[uint8])(nil).Close(),
		"table":         (*Table[uint32])(nil).Close(),
		"squared table": (*SquaredTable[uint32, uint64])(nil).Close(),
		"empty squares": (&SquaredTable[uint32, uint64]{}).Close(),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
