//go:build linux

package store

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// cumsums computes the table with dask, as a user would.
const cumsums = `
import sys, warnings, dask, dask.array as da, zarr
warnings.simplefilter("ignore")
dask.config.set(scheduler="threads", num_workers=2)
source, target, method, packed = sys.argv[1:]
a = da.from_zarr(source).astype("u8")
t = da.cumsum(da.cumsum(a, axis=0, method=method), axis=1, method=method)
out = zarr.create_array(target, shape=t.shape, chunks=a.chunksize, dtype="u8", overwrite=True, compressors=zarr.codecs.ZstdCodec(level=1) if packed == "zstd" else None)
t.store(out, lock=False)
`

// TestMeasure prints the times for tables of noise, alternating with dask and with two kinds of copies: of files, with as many bytes read and written in
// as many files; and with the same codecs, decoding each chunk of the image and encoding one of the table for it, without summing. BOXSUM_STORE_MEASURE
// lists the sides, such as 16384; BOXSUM_STORE_PACKED the compressions, by default zstd and none; BOXSUM_STORE_FOLDER is a folder with enough space, and
// BOXSUM_STORE_PYTHON a Python with dask and zarr.
func TestMeasure(t *testing.T) {
	if child := os.Getenv("BOXSUM_STORE_CHILD"); child != "" {
		measured(t, strings.Split(child, "|"))
		return
	}
	sides := os.Getenv("BOXSUM_STORE_MEASURE")
	if sides == "" {
		t.Skip("set BOXSUM_STORE_MEASURE to sides of images, such as 16384, to measure")
	}
	dir, err := os.MkdirTemp(os.Getenv("BOXSUM_STORE_FOLDER"), "measure-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	python := os.Getenv("BOXSUM_STORE_PYTHON")
	turns := 3
	if n, err := strconv.Atoi(os.Getenv("BOXSUM_STORE_TURNS")); err == nil {
		turns = n
	}
	for _, text := range strings.Split(sides, ",") {
		side, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, packed := range strings.Split(cmp.Or(os.Getenv("BOXSUM_STORE_PACKED"), "zstd,none"), ",") {
			from, to := filepath.Join(dir, "in.zarr"), filepath.Join(dir, "out.zarr")
			os.RemoveAll(from)
			noisy(t, from, side, packed)
			self := func(what string) func() *exec.Cmd {
				return func() *exec.Cmd {
					cmd := exec.Command(os.Args[0], "-test.run=^TestMeasure$")
					cmd.Env = append(os.Environ(), "BOXSUM_STORE_CHILD="+strings.Join([]string{what, from, to, packed}, "|"))
					return cmd
				}
			}
			kinds := []struct {
				name string
				make func() *exec.Cmd
			}{{"boxsum", self("integrate")}, {"copy, packed", self("recode")}, {"copy", self("copy")}}
			if python != "" && side <= 16384 {
				for _, method := range []string{"sequential", "blelloch"} {
					kinds = append(kinds, struct {
						name string
						make func() *exec.Cmd
					}{"dask " + method, func() *exec.Cmd { return exec.Command(python, "-c", cumsums, from, to, method, packed) }})
				}
			}
			if os.Getenv("BOXSUM_STORE_COMPACT") != "" {
				kinds = append(kinds[:1:1], struct {
					name string
					make func() *exec.Cmd
				}{"boxsum compact", self("compact")})
			}
			for turn := range turns {
				for _, kind := range kinds {
					if !strings.HasPrefix(kind.name, "copy") { // copies need the sizes of the table
						os.RemoveAll(to)
					}
					os.RemoveAll(to + ".copy")
					syscall.Sync()
					cmd := kind.make()
					start := time.Now()
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%s: %v: %s", kind.name, err, out)
					}
					took := time.Since(start)
					use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
					fmt.Printf("%d² %s %d: %-16s %6.2f s, %6.2f s of a processor (%.2f in the system), %5d MB\n", side, packed, turn, kind.name,
						took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), cmd.ProcessState.SystemTime().Seconds(), use.Maxrss>>10)
				}
			}
			os.RemoveAll(to)
			os.RemoveAll(to + ".copy")
		}
	}
}

// noisy writes an image of noise, one row of chunks at a time.
func noisy(t *testing.T, path string, side int, packed string) {
	a, err := zarr.Create(ctx, zarr.Folder(path), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{side, side}, Chunk: []int{1024, 1024}, Compression: packed})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{1})
	chunk := make([]byte, 1024*1024)
	for i := range raster.CeilDiv(side, 1024) {
		for k := range raster.CeilDiv(side, 1024) {
			random.Read(chunk)
			if err := a.WriteObject(ctx, []int{i, k}, chunk); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// measured is the main function of a child process.
func measured(t *testing.T, how []string) {
	what, from, to, packed := how[0], how[1], how[2], how[3]
	if what == "recode" {
		recode(t, from, to)
		return
	}
	if what != "copy" {
		if err := Integrate(ctx, from, to, &Options{Compression: packed, Memory: 300 << 20, Compact: what == "compact"}); err != nil {
			t.Fatal(err)
		}
		return
	}
	// Read the files of the image, and rewrite those of the table.
	type task struct {
		path string
		size int64
	}
	var reads, writes []task
	walk := func(root string, list *[]task) {
		filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				info, _ := entry.Info()
				*list = append(*list, task{path, info.Size()})
			}
			return nil
		})
	}
	walk(from, &reads)
	walk(to, &writes)
	for _, w := range writes {
		os.Remove(w.path)
	}
	var lock sync.Mutex
	next := func() (r, w *task) {
		lock.Lock()
		defer lock.Unlock()
		if len(reads) > 0 {
			r, reads = &reads[0], reads[1:]
		}
		if len(writes) > 0 {
			w, writes = &writes[0], writes[1:]
		}
		return r, w
	}
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			in, out := make([]byte, 2<<20), make([]byte, 16<<20)
			for {
				r, w := next()
				if r == nil && w == nil {
					return
				}
				if r != nil {
					file, err := os.Open(r.path)
					if err != nil {
						panic(err)
					}
					file.Read(in)
					file.Close()
				}
				if w != nil {
					if err := os.WriteFile(w.path, out[:w.size], 0o666); err != nil {
						panic(err)
					}
				}
			}
		})
	}
	group.Wait()
}

// recode decodes all chunks of the image, and encodes one chunk of the table for each.
func recode(t *testing.T, from, to string) {
	src, err := zarr.Open(ctx, from)
	if err != nil {
		t.Fatal(err)
	}
	table, err := zarr.Open(ctx, filepath.Join(to, "sum"))
	if err != nil {
		t.Fatal(err)
	}
	last := []int{table.Shape()[0] - 1024, table.Shape()[1] - 1024}
	sums := make([]uint64, 1024*1024)
	if err := zarr.Read(ctx, table, sums, last, []int{1024, 1024}); err != nil {
		t.Fatal(err)
	}
	copied, err := zarr.New(zarr.Folder(to+".copy"), "sum", &zarr.Spec{Type: table.Type(), Shape: table.Shape(), Chunk: table.Chunk(), Compression: table.Codecs()[1], Checksum: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, columns := raster.CeilDiv(src.Shape()[0], 1024), raster.CeilDiv(src.Shape()[1], 1024)
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			pixels := make([]byte, 1024*1024)
			for {
				n := int(next.Add(1)) - 1
				i, k := n/columns, n%columns
				if i >= rows {
					return
				}
				err := src.ReadBytes(ctx, pixels, []int{1024 * i, 1024 * k}, []int{1024, 1024})
				if err == nil {
					err = copied.WriteObject(ctx, []int{i, k}, raster.Bytes(sums))
				}
				if err != nil {
					panic(err)
				}
			}
		})
	}
	group.Wait()
}

// mostMemory returns the peak memory of the process since it was last reset.
func mostMemory() (bytes int64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(after, &bytes)
	return bytes << 10
}

// TestMeasureBoxes prints how many random boxes per second a table of 10 gigapixels answers, of an image most of whose chunks are missing. BOXSUM_STORE_BOXES is the number of boxes.
func TestMeasureBoxes(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("BOXSUM_STORE_BOXES"))
	if err != nil {
		t.Skip("set BOXSUM_STORE_BOXES to a number of boxes, such as 100000, to measure")
	}
	dir, err := os.MkdirTemp(os.Getenv("BOXSUM_STORE_FOLDER"), "measure-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const side = 100_000
	a, err := zarr.Create(ctx, zarr.Folder(filepath.Join(dir, "in.zarr")), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{side, side}, Chunk: []int{1024, 1024}})
	if err != nil {
		t.Fatal(err)
	}
	chunk := make([]byte, 1<<20)
	for i := range chunk {
		chunk[i] = byte(i * 7 / 3)
	}
	for i := range raster.CeilDiv(side, 1024) { // one chunk per row, and more in the middle
		a.WriteObject(ctx, []int{i, (i * 17) % 98}, chunk)
		if i > 45 && i < 53 {
			for k := 45; k < 53; k++ {
				a.WriteObject(ctx, []int{i, k}, chunk)
			}
		}
	}
	start := time.Now()
	if err := Integrate(ctx, filepath.Join(dir, "in.zarr"), filepath.Join(dir, "out.zarr"), &Options{Compact: true, Chunk: 128, Memory: 300 << 20}); err != nil {
		t.Fatal(err)
	}
	var bytes int64
	filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, _ error) error {
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			bytes += info.Size()
		}
		return nil
	})
	fmt.Printf("a table of %d² in %.0f s, %d MB on disk\n", side, time.Since(start).Seconds(), bytes>>20)
	const limit = 512 << 20
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the peak memory
	table, err := Open(ctx, filepath.Join(dir, "out.zarr"), &OpenOptions{Cache: limit})
	if err != nil {
		t.Fatal(err)
	}
	// First boxes of a region whose chunks fit the cache, then boxes of the whole image.
	for _, span := range []int{6000, side} {
		if span == side {
			n /= 10 // these read chunks
		}
		boxes := make([]image.Rectangle, n)
		random := rand.New(rand.NewPCG(1, 1))
		for i := range boxes {
			boxes[i] = image.Rect(random.IntN(span), random.IntN(span), random.IntN(span), random.IntN(span)).Add(image.Pt((side-span)/2, (side-span)/2))
		}
		sums := make([]uint64, n)
		for turn := range 2 {
			start := time.Now()
			var before syscall.Rusage
			syscall.Getrusage(syscall.RUSAGE_SELF, &before)
			if err := SumBoxes(context.Background(), table, sums, boxes); err != nil {
				t.Fatal(err)
			}
			var after syscall.Rusage
			syscall.Getrusage(syscall.RUSAGE_SELF, &after)
			cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
			fmt.Printf("span %d, turn %d: %d boxes in %.1f s, %.0f a second, %.0f for a second of a processor; process %d MB\n", span, turn, n, time.Since(start).Seconds(), float64(n)/time.Since(start).Seconds(), float64(n)/cpu.Seconds(), mostMemory()>>20)
		}
		want := slices.Clone(sums[:50])
		for i := range want { // compare with the pixels themselves
			if b := boxes[i]; b.Dx()*b.Dy() < 4<<20 {
				pixels := make([]byte, b.Dx()*b.Dy())
				if err := zarr.Read(ctx, a, pixels, []int{b.Min.Y, b.Min.X}, []int{b.Dy(), b.Dx()}); err != nil {
					t.Fatal(err)
				}
				var sum uint64
				for _, v := range pixels {
					sum += uint64(v)
				}
				if sum != sums[i] {
					t.Fatalf("box %v is %d, want %d", b, sums[i], sum)
				}
			}
		}
	}
}
