package sources

import (
	"context"
	"image"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/zarr"
)

// TestGray compares gray images with those converted in memory.
func TestGray(t *testing.T) {
	const width, height = 37, 53
	random := rand.New(rand.NewPCG(1, 2))
	picture, deep := image.NewNRGBA(image.Rect(0, 0, width, height)), image.NewNRGBA64(image.Rect(0, 0, width, height))
	for _, pix := range [][]byte{picture.Pix, deep.Pix} {
		for i := range pix {
			pix[i] = byte(random.Uint32())
		}
	}
	for _, channels := range []int{3, 4} {
		part := func(c boxsum.Image[uint8]) (list []uint8) {
			for i, v := range c.Pix {
				if i%4 < channels {
					list = append(list, v)
				}
			}
			return list
		}
		part16 := func(c boxsum.Image[uint16]) (list []uint16) {
			for i, v := range c.Pix {
				if i%4 < channels {
					list = append(list, v)
				}
			}
			return list
		}
		grayIs(t, part(boxsum.Color(picture)), boxsum.Gray(picture).Pix, width, height, channels)
		grayIs(t, part16(boxsum.Color16(deep)), boxsum.Gray16(deep).Pix, width, height, channels)
	}
	grayIs(t, []uint8{1, 255, 2, 0, 3, 9}, []uint8{1, 2, 3}, 3, 1, 2)
	for _, shape := range [][]int{{4, 4, 5}, {1, 4, 4, 3}} {
		a, err := zarr.Create(ctx, zarr.Memory(), "", &zarr.Spec{Type: zarr.Uint8, Shape: shape, Chunk: shape})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Gray(ctx, a); err == nil {
			t.Errorf("shape %v has colors", shape)
		}
	}
}

func grayIs[P uint8 | uint16](t *testing.T, colors, want []P, width, height, channels int) {
	t.Helper()
	a, err := zarr.Create(ctx, zarr.Memory(), "", &zarr.Spec{Type: zarr.TypeOf[P](), Shape: []int{height, width, channels}, Chunk: []int{16, 10, channels}})
	if err == nil {
		err = zarr.Write(ctx, a, colors, []int{0, 0, 0}, []int{height, width, channels})
	}
	if err != nil {
		t.Fatal(err)
	}
	gray, err := Gray(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]P, width*height)
	if err := zarr.Read(ctx, gray, got, []int{0, 0}, []int{height, width}); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d channels of %v differ: %v", channels, zarr.TypeOf[P](), err)
	}
}

// TestGrayAbsent tests that absent pixels of a color image with tiny chunks cost nothing.
func TestGrayAbsent(t *testing.T) {
	colors, err := zarr.Create(ctx, zarr.Folder(t.TempDir()), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{4000, 4000, 3}, Chunk: []int{1, 1, 3}, Fill: 50})
	if err != nil {
		t.Fatal(err)
	}
	gray, err := Gray(ctx, colors)
	if err != nil {
		t.Fatal(err)
	}
	limited, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	all, err := zarr.ReadAll[uint8](limited, gray)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(all, func(v uint8) bool { return v != 50 }); i >= 0 {
		t.Errorf("element %d is %d", i, all[i])
	}
	// WriteNPY reads many rows of chunks at once.
	narrow, err := zarr.Create(ctx, zarr.Folder(t.TempDir()), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{4_000_000, 4}, Chunk: []int{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteNPY(limited, io.Discard, narrow, nil); err != nil {
		t.Error(err)
	}
}
