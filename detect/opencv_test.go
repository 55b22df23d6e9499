package detect_test

import (
	"image"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestOpenCV tests that results equal OpenCV's bit for bit, for every cascade at every level.
func TestOpenCV(t *testing.T) {
	files, photos := cascadeFiles(t), photographs(t)
	py := ref.StartCascades(t, "testdata/cascades.py")
	rng := rand.New(rand.NewPCG(ref.Seed(t, 19), 1))
	levels := boxsum.Levels()
	found, bad := 0, 0
	for i := range ref.Trials(t, 400) {
		file := files[i%len(files)]
		c := cascade(t, file)
		size := c.Window()
		channels := []int{1, 1, 3}[rng.IntN(3)]
		grow := 4
		if i%50 == 0 {
			grow = 12
		}
		img := drawn(rng, photos, max(1, size.X-2+rng.IntN(grow*size.X)), max(1, size.Y-2+rng.IntN(grow*size.Y)), channels)
		q := query{file: file, levels: rng.IntN(2) == 0}
		o := &q.opt
		o.Compat, o.BGR = true, true
		o.Scale = []float64{1.1, 1.1, 1.05, 1.2, 1.3, 1.01 + rng.Float64()}[rng.IntN(6)]
		o.Ungrouped = rng.IntN(3) == 0
		o.Neighbors = 1 + rng.IntN(4)
		if rng.IntN(3) == 0 {
			o.Min = image.Pt(rng.IntN(2*size.X), rng.IntN(2*size.Y))
		}
		if rng.IntN(4) == 0 {
			o.Max = image.Pt(o.Min.X+rng.IntN(3*size.X), o.Min.Y+rng.IntN(3*size.Y))
		}
		if rng.IntN(10) == 0 { // OpenCV then uses a single size, the one nearest to the minimum
			o.Min, o.Max = image.Pt(rng.IntN(90)-40, rng.IntN(90)-40), image.Pt(rng.IntN(90)-80, -1-rng.IntN(5))
			if rng.IntN(2) == 0 { // and the distance does not fit 32 bits
				o.Min = image.Pt(40000+rng.IntN(1e6), 40000+rng.IntN(1e6))
			}
		}
		o.Level, o.Workers = levels[rng.IntN(len(levels))], 1+rng.IntN(3)
		got, err := c.Detect(img, o)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := q.ask(t, py, img)
		found += len(got)
		if !same(got, want, q.levels) {
			if bad++; bad < 5 {
				t.Errorf("run %d, %s in %d×%d×%d, %+v:\n%v\nOpenCV has\n%v", i, filepath.Base(file), img.Width, img.Height, channels, *o, got, want)
			}
		}
	}
	t.Logf("%d results, %d runs differ", found, bad)
	if found == 0 {
		t.Error("nothing was found")
	}
}
