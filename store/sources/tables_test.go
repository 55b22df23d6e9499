package sources_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

var ctx = context.Background()

func init() {
	sources.TableHeight = func(t *testing.T, a *zarr.Array) int {
		b := zarr.Memory()
		job, err := store.NewJob(ctx, a, b, &store.Options{Block: 32})
		if err == nil {
			err = job.Run(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		table, err := store.OpenTable(ctx, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		return table.Bounds().Dy()
	}
}

// saveTile saves a tile of one value.
func saveTile(t *testing.T, path string, width, height, channels int, v byte) {
	t.Helper()
	tile := boxsum.Image[uint8]{Pix: bytes.Repeat([]byte{v}, width*height*channels), Width: width, Height: height, Channels: channels, Stride: width * channels}
	if err := imgio.Save(path, tile); err != nil {
		t.Fatal(err)
	}
}

// TestMosaicTables computes tables of mosaics whose tiles are files of several kinds and whose blocks span tiles.
func TestMosaicTables(t *testing.T) {
	for _, channels := range []int{1, 3} {
		dir := t.TempDir()
		list, total := "file,row,column\n", uint64(0)
		for n, end := range []string{".png", ".tiff", ".npy", ".pnm", ".png", ".npy"} {
			row, column := n/3, n%3
			width, height := 80-30*(column/2), 90-20*row
			saveTile(t, fmt.Sprintf("%s/%d_%d%s", dir, row, column, end), width, height, channels, byte(n+1))
			list += fmt.Sprintf("%d_%d%s,%d,%d\n", row, column, end, row, column)
			total += uint64(width * height * (n + 1))
		}
		os.WriteFile(dir+"/list.csv", []byte(list), 0o666)
		for _, location := range []string{dir + "/list.csv", dir + "/{row}_{column}.*"} {
			to := dir + "/table.zarr"
			if err := store.Integrate(ctx, location, to, &store.Options{Block: 64, Restart: true}); err != nil {
				t.Fatalf("%s: %v", location, err)
			}
			table, err := store.Open(ctx, to, nil)
			if err != nil {
				t.Fatal(err)
			}
			sums := make([]uint64, channels)
			if err := store.SumBoxes(ctx, table, sums, []image.Rectangle{image.Rect(0, 0, 210, 160)}); err != nil {
				t.Fatal(err)
			}
			for c, sum := range sums {
				if sum != total {
					t.Errorf("%s: channel %d sums to %d, want %d", location, c, sum, total)
				}
			}
			table.Close()
		}
	}
}

// TestLargeTiles reads tiles far larger than blocks: each must be decoded once, and insufficient memory must be an error.
func TestLargeTiles(t *testing.T) {
	var read atomic.Int64
	a, err := sources.OpenLargeTiles(func() { read.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	if err := store.FilterArray(ctx, a, zarr.Memory(), filter.Radius(1), &store.FilterOptions{Block: 64, Memory: 10 << 20}); !errors.Is(err, boxsum.ErrMemory) || !strings.Contains(err.Error(), "13 MiB") {
		t.Errorf("less memory than tiles take: %v", err)
	}
	if err := store.FilterArray(ctx, a, zarr.Memory(), filter.Radius(1), &store.FilterOptions{Block: 64, Memory: 80 << 20, Workers: 4}); err != nil || read.Load() != 2 {
		t.Errorf("tiles are read %d times: %v", read.Load(), err)
	}
}

// TestMosaicChanges tests that a table of a mosaic is refused after a tile or a position has changed.
func TestMosaicChanges(t *testing.T) {
	dir := t.TempDir()
	tile := func(name string, v byte) {
		if err := imgio.Save(dir+"/"+name, boxsum.Image[uint8]{Pix: bytes.Repeat([]byte{v}, 64), Width: 8, Height: 8, Channels: 1, Stride: 8}); err != nil {
			t.Fatal(err)
		}
	}
	tile("a.png", 1)
	tile("b.png", 2)
	list := func(text string) { os.WriteFile(dir+"/m.csv", []byte(text), 0o666) }
	list("file,x,y\na.png,0,0\nb.png,8,0\n")
	make := func() error { return store.Integrate(ctx, dir+"/m.csv", dir+"/t.zarr", nil) }
	if err := errors.Join(make(), make()); err != nil {
		t.Fatal(err)
	}
	list("file,x,y\nb.png,0,0\na.png,8,0\n")
	if err := make(); !errors.Is(err, store.ErrChanged) {
		t.Errorf("tiles that changed places: %v", err)
	}
	list("file,x,y\na.png,0,0\nb.png,8,0\n")
	tile("b.png", 77)
	if err := make(); !errors.Is(err, store.ErrChanged) {
		t.Errorf("another tile: %v", err)
	}
}
