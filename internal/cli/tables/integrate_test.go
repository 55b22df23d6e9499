package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// TestPairNamed checks the defaults, and that errors list what there is.
func TestPairNamed(t *testing.T) {
	tests := []struct {
		img       any
		sum, want string // want is the type chosen, or part of an error
	}{
		{boxsum.Image[uint8]{}, "auto", "u32"},
		{boxsum.Image[uint16]{}, "auto", "u64"},
		{boxsum.Image[uint32]{}, "auto", "u64"},
		{boxsum.Image[int16]{}, "auto", "i64"},
		{boxsum.Image[int32]{}, "auto", "i64"},
		{boxsum.Image[float32]{}, "auto", "f64"},
		{boxsum.Image[float64]{}, "auto", "f64"},
		{boxsum.Image[uint8]{}, "f32", "f32"},
		{boxsum.Image[uint32]{}, "u32", "u32"},
		{boxsum.Image[int32]{}, "u64", "i64"},
		{boxsum.Image[uint8]{}, "i64", "i64"},
		{boxsum.Image[uint16]{}, "u32", "u32"},
		{boxsum.Image[float64]{}, "i64", "f64"},
		{boxsum.Image[int16]{}, "u64", "i64, f64"},
		{boxsum.Image[uint64]{}, "auto", "u64"},
		{boxsum.Image[float32]{}, "u32", "f64, f32"},
		{"no image", "auto", "cannot be summed"},
	}
	for _, test := range tests {
		p, err := pairNamed(pixels.Of(test.img), test.sum)
		got := p.sum.Short()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%T as %s: %s, want %s", test.img, test.sum, got, test.want)
		}
	}
}

// TestPairExact checks where the sums of a whole image outgrow a type.
func TestPairExact(t *testing.T) {
	tests := []struct {
		img  any
		want string
	}{
		{boxsum.Image[uint8]{Width: 4096, Height: 4096}, "u32"},
		{boxsum.Image[uint8]{Width: 16843009, Height: 1}, "u32"}, // 255 times that is 2³²−1
		{boxsum.Image[uint8]{Width: 16843010, Height: 1}, "u64"},
		{boxsum.Image[uint16]{Width: 1 << 20, Height: 1 << 20}, "u64"},
		{boxsum.Image[uint32]{Width: 1 << 16, Height: 1 << 16}, "u64"},
		{boxsum.Image[uint32]{Width: 1 << 16, Height: 1<<16 + 1}, "overflow"},
		{boxsum.Image[int32]{Width: 1 << 15, Height: 1 << 15}, "i64"},
		{boxsum.Image[int32]{Width: 1 << 20, Height: 1 << 20}, "overflow"},
		{boxsum.Image[float32]{Width: 1 << 20, Height: 1 << 20}, "f64"},
	}
	for _, test := range tests {
		p, err := pairExact(pixels.Of(test.img), 1)
		got := p.sum.Short()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%T: %s, want %s", test.img, got, test.want)
		}
	}
}

// TestCheckApart also knows an input by its other names.
func TestCheckApart(t *testing.T) {
	dir := t.TempDir()
	in, link := filepath.Join(dir, "in.npy"), filepath.Join(dir, "link.npy")
	if err := os.WriteFile(in, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in, link); err != nil {
		t.Fatal(err)
	}
	for out, ok := range map[string]bool{in: false, link: false, dir + "/./in.npy": false, dir + "/out.npy": true, "-": true, "": true} {
		if err := imagefile.CheckApart(in, out, false); (err == nil) != ok {
			t.Errorf("%s: error %v", out, err)
		}
	}
}

// Tables that do not fit are written as their rows come, and are the same.
func TestRowByRow(t *testing.T) {
	for _, channels := range []int{1, 3} {
		img, err := boxsum.NewImage[int16](37, 21, channels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range img.Pix {
			img.Pix[i] = int16(i * 7919)
		}
		for _, squares := range []bool{false, true} {
			want := tableChoice{squares: squares, tilted: true}
			whole, err := newPlane(pairOf[int16, int64, uint64](), pixels.Of(img), want)
			if err != nil {
				t.Fatal(err)
			}
			rows := planPlane(pairOf[int16, int64, uint64](), pixels.Of(img), want)
			rows.streams = true
			var files [2]bytes.Buffer
			for i, j := range []job{whole, rows} {
				if err := j.integrate(nil, nil); err != nil {
					t.Fatal(err)
				}
				if err := j.writeNPZ(&files[i]); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) || !rows.streams || whole.streams {
				t.Errorf("%d channels, squares %v: row by row the files differ", channels, squares)
			}
		}
	}
}

// The same holds for 64-bit integers, whose boxes are asked without rounding or wrapping.
func TestImage64(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 4))
	for _, channels := range []int{1, 3} {
		img := boxsum.Image[int64]{Pix: make([]int64, 13*9*channels), Stride: 13 * channels, Width: 13, Height: 9, Channels: channels}
		for i := range img.Pix {
			img.Pix[i] = int64(random.Uint64())
		}
		var files [2]bytes.Buffer
		for i := range files {
			j, err := newPlane(pair{pixel: raster.I64, sum: raster.I64, wide: true}, pixels.Of(img), tableChoice{})
			if err != nil {
				t.Fatal(err)
			}
			if j.streams = i == 1; j.types() != "i64:i64" {
				t.Errorf("types are %s", j.types())
			}
			if err := errors.Join(j.integrate(nil, nil), j.writeNPZ(&files[i])); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Errorf("%d channels: row by row the files differ", channels)
		}
		direct := newDirect64(pixels.Of(img))
		for range 20 {
			b := box{random.IntN(13), random.IntN(9), 0, 0}
			b[2], b[3] = b[0]+random.IntN(14-b[0]), b[1]+random.IntN(10-b[1])
			channel, n := random.IntN(channels), direct.area(b)
			sum, squares := new(big.Int), new(big.Int)
			for y := b[1]; y < b[3]; y++ {
				for x := b[0]; x < b[2]; x++ {
					v := big.NewInt(img.Pix[y*img.Stride+x*channels+channel])
					sum.Add(sum, v)
					squares.Add(squares, v.Mul(v, v))
				}
			}
			got := direct.stats(b, channel)
			if n == 0 {
				if got.sum != fromsums.SumOf(int64(0)) || got.mean != 0 || got.std != 0 {
					t.Errorf("%v is empty and has %v", b, got)
				}
				continue
			}
			count := big.NewInt(n)
			mean, _ := new(big.Rat).SetFrac(sum, count).Float64()
			squares.Sub(squares.Mul(squares, count), new(big.Int).Mul(sum, sum))
			variance, _ := new(big.Rat).SetFrac(squares, count.Mul(count, count)).Float64()
			if fmt.Sprint(got.sum) != sum.String() || got.mean != mean || math.Abs(got.std-math.Sqrt(variance)) > 1e-12*math.Sqrt(variance) {
				t.Errorf("%v: %v, want a sum of %v, a mean of %v and a deviation of %v", b, got, sum, mean, math.Sqrt(variance))
			}
		}
	}
}

// TestInterruptIntegrating cancels before a table is made; nothing may be timed then.
func TestInterruptIntegrating(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sh := &console.Shell{Ctx: ctx, Stdout: t.Output(), Stderr: t.Output()}
	work, err := newPlane(pairOf[uint8, uint32, uint64](), pixels.Of(imgio.Demo(300, 200)), tableChoice{squares: true, tilted: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runJob(sh, nil, work, &boxsum.Options{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := runJob(sh, nil, work, &boxsum.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// TestInterruptWriting cancels once the output has been begun.
func TestInterruptWriting(t *testing.T) {
	work, err := allPairs[0].job(&imagefile.Source{Image: pixels.Of(imgio.Demo(64, 64))}, tableChoice{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formats {
		ctx, cancel := context.WithCancel(t.Context())
		whole := f.write
		f.write = func(o output, w io.Writer) error {
			if _, err := w.Write([]byte{0}); err != nil {
				t.Errorf("%s: interrupted too soon: %v", f.extension, err)
			}
			cancel()
			return whole(o, w)
		}
		dir := t.TempDir()
		sh := &console.Shell{Ctx: ctx, Stdout: t.Output(), Stderr: t.Output()}
		if err := save(sh, filepath.Join(dir, "out"+f.extension), f, work); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", f.extension, err, context.Canceled)
		}
		wantEmpty(t, dir)
	}
}
