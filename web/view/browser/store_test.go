package browser

import (
	"context"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// huge is an image of 100,000×100,000 pixels in a store, with its levels and its table. A few patches have pixels; the
// rest is 0, in missing chunks. The test writes the lines between blocks, and the library the blocks, as in a run
// distributed over machines: those of the patches, and one block without pixels that stands for all others.
type huge struct {
	image, table string
	patches      []image.Rectangle
	sums         *boxsum.SquaredTable[uint64, uint64] // of one patch: all have the same pixels
}

const (
	hugeSide  = 100000
	patchSide = 1500
)

// at returns an entry of the table.
func (h *huge) at(x, y int) (sum, squares uint64) {
	for _, p := range h.patches {
		u, v := min(max(x-p.Min.X, 0), patchSide), min(max(y-p.Min.Y, 0), patchSide)
		sum += h.sums.Sum.At(u, v, 0)
		squares += h.sums.Squares.At(u, v, 0)
	}
	return sum, squares
}

// of returns the sum, mean and deviation of a box.
func (h *huge) of(b image.Rectangle) (sum uint64, mean, deviation float64) {
	var squares uint64
	for i, p := range []image.Point{b.Max, {X: b.Min.X, Y: b.Max.Y}, {X: b.Max.X, Y: b.Min.Y}, b.Min} {
		s, q := h.at(p.X, p.Y)
		if i == 1 || i == 2 {
			s, q = -s, -q
		}
		sum, squares = sum+s, squares+q
	}
	n := float64(b.Dx()) * float64(b.Dy())
	mean = float64(sum) / n
	return sum, mean, math.Sqrt(float64(squares)/n - mean*mean)
}

func makeHuge(t *testing.T) *huge {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	h := &huge{image: filepath.Join(dir, "image.zarr"), table: filepath.Join(dir, "table.zarr")}
	for _, at := range []image.Point{{20480, 61440}, {61234, 70111}, {90001, 97003}} {
		h.patches = append(h.patches, image.Rectangle{at, at.Add(image.Pt(patchSide, patchSide))})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	patch := imgio.Demo(patchSide, patchSide)
	var err error
	h.sums, err = boxsum.IntegrateSquares[uint64, uint64](patch, nil)
	must(err)
	bucket, err := zarr.OpenBucket(ctx, h.image, true)
	must(err)
	arrays, levels := map[string]*zarr.Array{}, []zarr.Level{}
	for i, scale := range []int{1, 8, 64} {
		side, small := (hugeSide+scale-1)/scale, patch
		if scale > 1 {
			small, err = filter.Downsample(patch, scale, scale, nil)
			must(err)
		}
		name := fmt.Sprint(i)
		a, err := zarr.Create(ctx, bucket, name, &zarr.Spec{Type: zarr.Uint8, Shape: []int{side, side}, Chunk: []int{1024, 1024}, Compression: "zstd"})
		must(err)
		for _, p := range h.patches {
			must(zarr.Write(ctx, a, small.Pix, []int{p.Min.Y / scale, p.Min.X / scale}, []int{small.Height, small.Width}))
		}
		arrays[name], levels = a, append(levels, zarr.Level{Path: name, Scale: []float64{float64(scale), float64(scale)}})
	}
	axes := []zarr.Axis{{Name: "y", Type: "space"}, {Name: "x", Type: "space"}}
	_, err = zarr.CreateGroup(ctx, bucket, "", map[string]any{"ome": zarr.Multiscales("huge", axes, levels)}, arrays)
	must(err)
	must(bucket.Close())

	src, err := sources.Open(ctx, h.image)
	must(err)
	defer src.Close()
	to, err := zarr.OpenBucket(ctx, h.table, true)
	must(err)
	defer to.Close()
	job, err := store.NewJob(ctx, src, to, &store.Options{Squares: true, Compact: true})
	must(err)
	_, err = job.Begin(ctx)
	must(err)
	rows, columns := job.Blocks()
	const block = 1024
	for k, name := range []string{"sum", "squares"} {
		entry := func(x, y int) uint64 {
			s, q := h.at(x, y)
			return []uint64{s, q}[k]
		}
		left, err := zarr.OpenArray(ctx, to, name+"_left")
		must(err)
		top, err := zarr.OpenArray(ctx, to, name+"_top")
		must(err)
		for i := range rows {
			y0, y1 := i*block, min((i+1)*block, hugeSide)
			within := slices.ContainsFunc(h.patches, func(p image.Rectangle) bool { return p.Min.Y < y1 && p.Max.Y > y0 })
			line := make([]uint64, hugeSide)
			for x := range line {
				line[x] = entry(x+1, y0)
			}
			must(zarr.Write(ctx, top, line, []int{i, 0}, []int{1, hugeSide}))
			lines := make([]uint64, columns*(y1-y0))
			for c := range columns {
				if !within { // their values are 0
					break
				}
				above := entry(c*block, y0)
				for y := y0; y < y1; y++ {
					lines[c*(y1-y0)+y-y0] = entry(c*block, y+1) - above
				}
			}
			must(zarr.Write(ctx, left, lines, []int{0, y0}, []int{columns, y1 - y0}))
		}
	}
	must(job.Integrate(ctx, 0, 0)) // all blocks without pixels equal this one
	for i := range rows {
		for k := range columns {
			cell := image.Rect(k*block, i*block, (k+1)*block, (i+1)*block)
			if slices.ContainsFunc(h.patches, cell.Overlaps) {
				must(job.Integrate(ctx, i, k))
				continue
			}
			for _, name := range []string{"sum_local", "squares_local"} {
				if chunks := filepath.Join(h.table, name, "c"); i+k > 0 {
					must(os.MkdirAll(filepath.Join(chunks, fmt.Sprint(i)), 0o777))
					must(os.Link(filepath.Join(chunks, "0", "0"), filepath.Join(chunks, fmt.Sprint(i), fmt.Sprint(k))))
				}
			}
		}
	}
	must(job.Finish(ctx))
	return h
}

// TestStore queries, zooms and pans an image of 100,000×100,000 pixels with its table. Times are printed, not asserted.
func TestStore(t *testing.T) {
	h := makeHuge(t)
	b := open(t, serve(t, h.image, h.table), forms[0])
	if n := eval[int](b, `boxsum.documents.length`); n != 1 || !eval[bool](b, `boxsum.stage.doc.table && !boxsum.stage.doc.note`) {
		t.Fatal("the image has not got its table")
	}
	b.answered()
	b.shot("store-whole")
	check := func() {
		t.Helper()
		box := b.corners()
		sum, mean, deviation := h.of(box)
		b.near("stat-sum", float64(sum))
		b.near("stat-mean", mean)
		b.near("stat-standard", deviation)
		b.near("stat-area", float64(box.Dx())*float64(box.Dy()))
		var entries float64
		for _, e := range eval[[]struct {
			At    []int
			Value string
			Sign  float64
		}](b, `boxsum.boxes.selected.answer.entries`) {
			var v float64
			fmt.Sscan(e.Value, &v)
			if want, _ := h.at(e.At[0], e.At[1]); v != float64(want) {
				t.Errorf("the entry at %v is %s, want %d", e.At, e.Value, want)
			}
			entries += e.Sign * v
		}
		if entries != float64(sum) {
			t.Errorf("the entries give %v, want %d", entries, sum)
		}
	}
	check()
	b.drag(15000, 55000, 95000, 99000)
	check()
	// The heat map of the whole image must show the table.
	for _, p := range []image.Point{{255, 255}, {100, 255}, {200, 200}, {10, 10}} {
		const level = 8
		got := eval[float64](b, fmt.Sprintf(`boxsum.engine.ask({do: 'tile', doc: 0, kind: 'heat', level: %d, x: 0, y: 0, size: 256}).then((r) => r.bytes[%d * r.width + %d])`, level, p.Y, p.X))
		sum, _ := h.at(p.X<<level, p.Y<<level)
		all, _ := h.at(hugeSide, hugeSide)
		if want := 255 * float64(sum) / float64(all); math.Abs(got-want) > 3 {
			t.Errorf("the heat map at %v is %v, want %.1f", p, got, want)
		}
	}
	// Times from moving a box to its numbers, at positions not queried before.
	var times []float64
	for i := range 40 {
		p := h.patches[i%3]
		b.do(chromedp.Evaluate(fmt.Sprintf(`document.body.dataset.latency = ''; Object.assign(boxsum.boxes.selected, {x0: %d, y0: %d, x1: %d, y1: %d}); boxsum.boxes.changed(boxsum.boxes.selected)`, 37*i, 1000+53*i, p.Min.X+200+29*i, p.Min.Y+100+31*i), nil))
		b.wait(`document.body.dataset.latency`)
		times = append(times, eval[float64](b, `Number(document.body.dataset.latency)`))
		b.answered()
	}
	check()
	slices.Sort(times)
	t.Logf("100,000×100,000: from a moved box to its numbers %.1f ms (median), %.1f (p95), %.1f (most)", times[20], times[38], times[39])
	// Pan by one step per frame, at several zooms.
	for _, scale := range []float64{1, 1.0 / 16} {
		gaps := eval[[]float64](b, fmt.Sprintf(`(async () => {
			const s = boxsum.stage, frame = () => new Promise(requestAnimationFrame);
			s.zoom(%v / s.scale); s.x = 20000; s.y = 61000; s.draw();
			const gaps = []; await frame(); let last = await frame();
			for (let i = 0; i < 90; i++) { s.pan(-11, -7); const now = await frame(); gaps.push(now - last); last = now; }
			return gaps; })()`, scale))
		slices.Sort(gaps)
		b.settled()
		t.Logf("panning at 1:%v: a frame every %.1f ms (median), %.1f (p95), %.1f (most)", 1/scale, gaps[len(gaps)/2], gaps[len(gaps)*95/100], gaps[len(gaps)-1])
	}
	b.shot("store-part")
	// Compare a part of the patch at 1:1 pixel by pixel, and its level of 1:8.
	patch := imgio.Demo(patchSide, patchSide)
	got := eval[[]int](b, `boxsum.engine.ask({do: 'tile', doc: 0, kind: 'image', level: 0, x: 80, y: 240, size: 256}).then((r) => [r.width, r.height, r.bytes[0], r.bytes[300], r.bytes[65535]])`)
	want := []int{256, 256, int(patch.Pix[0]), int(patch.Pix[1*patchSide+44]), int(patch.Pix[255*patchSide+255])}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a tile of the store is %v, want %v", got, want)
	}
	small, err := filter.Downsample(patch, 8, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := eval[int](b, `boxsum.engine.ask({do: 'tile', doc: 0, kind: 'image', level: 3, x: 10, y: 30, size: 256}).then((r) => r.bytes[5 * 256 + 7])`); got != int(small.Pix[5*small.Stride+7]) {
		t.Errorf("a pixel at 1:8 is %d, want %d", got, small.Pix[5*small.Stride+7])
	}
	b.quiet()
}
