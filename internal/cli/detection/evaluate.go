package detection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
)

// A truth is an object that is present, in the format of detect --json. An entry without a size
// marks a file without objects.
type truth struct {
	File   string  `json:"file"`
	Page   int     `json:"page"` // 0 for files with one page
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Angle  float64 `json:"angle"`
}

// readTruth reads a file of entries. File names are relative to its folder.
func readTruth(path string) ([]truth, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []truth
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w: want an array of {\"file\", \"x\", \"y\", \"width\", \"height\", \"angle\"}", path, err)
	}
	for i := range all {
		t := &all[i]
		if t.File == "" {
			return nil, fmt.Errorf("%s: entry %d has no file", path, i)
		}
		if t.Width < 0 || t.Height < 0 || (t.Width == 0) != (t.Height == 0) {
			return nil, fmt.Errorf("%s: entry %d is %v×%v, want two positive sizes or none", path, i, t.Width, t.Height)
		}
		if !filepath.IsAbs(t.File) {
			t.File = filepath.Join(filepath.Dir(path), t.File)
		}
	}
	return all, nil
}

// A tally counts the results for a group of objects.
type tally struct {
	Name    string  `json:"name"`
	Objects int     `json:"objects"`
	Found   int     `json:"found"`
	False   int     `json:"false_positives"`
	Recall  float64 `json:"recall"`
	Millis  float64 `json:"ms"` // mean time of an image that contains such objects

	images int
	took   time.Duration
	from   float64
}

// tallies are grouped by a number: an angle or a size.
type tallies struct {
	step func(v float64) (name string, from float64)
	all  []*tally
}

func (t *tallies) at(v float64) *tally {
	name, from := t.step(v)
	for _, one := range t.all {
		if one.Name == name {
			return one
		}
	}
	one := &tally{Name: name, from: from}
	t.all = append(t.all, one)
	return one
}

// An evaluation summarizes all images.
type evaluation struct {
	tally
	Images int      `json:"images"`
	Angles []*tally `json:"by_angle"`
	Sizes  []*tally `json:"by_size"`
}

const (
	angleStep   = 15.0 // width of a group, in degrees
	leastIoU    = 0.5  // minimum overlap of a result and an object
	angleWithin = 30.0 // maximum difference of angles, in degrees
)

func angleName(angle float64) (string, float64) {
	from := angleStep * math.Round(math.Remainder(angle, 360)/angleStep)
	if from <= -180 {
		from += 360
	}
	return fmt.Sprintf("%+g°", from), from
}

func sizeName(size float64) (string, float64) {
	for from := 20.0; from < 1e6; from *= 2 {
		if size < 2*from {
			if from == 20 {
				return "below 40", 0
			}
			return fmt.Sprintf("%g to %g", from, 2*from), from
		}
	}
	return "more", 1e6
}

// searchPage searches the selected page of a file, by default the first.
func (c *Detect) searchPage(sh *console.Shell, d *detector, file string) ([]detect.Result, time.Duration, error) {
	src, err := c.open(sh, file, "", false)
	if err != nil {
		return nil, 0, err
	}
	defer src.Close()
	results, _, took, err := d.search(sh, src, file)
	return results, took, err
}

// evaluate searches images with known objects and prints recall, false positives and times.
func (c *Detect) evaluate(sh *console.Shell, d *detector) error {
	all, err := readTruth(c.Eval)
	if err != nil {
		return err
	}
	files := c.Ins
	if len(files) == 0 {
		for _, t := range all {
			if !slices.Contains(files, t.File) {
				files = append(files, t.File)
			}
		}
	}
	angles, sizes := tallies{step: angleName}, tallies{step: sizeName}
	e := evaluation{tally: tally{Name: "all"}, Images: len(files)}
	for i, file := range files {
		sh.Progress.Of(fmt.Sprintf("%d of %d: ", i+1, len(files)))
		results, took, err := c.searchPage(sh, d, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		there, err := truthOf(all, file, max(1, c.Page))
		if err != nil {
			return err
		}
		e.took += took
		e.images++
		hits, wrong := compare(there, results)
		var seen []*tally
		for k, t := range there {
			for _, one := range []*tally{&e.tally, angles.at(t.Angle), sizes.at(math.Sqrt(t.Width * t.Height))} {
				one.Objects++
				if hits[k] {
					one.Found++
				}
				if one != &e.tally && !slices.Contains(seen, one) {
					seen = append(seen, one)
					one.images, one.took = one.images+1, one.took+took
				}
			}
		}
		for _, r := range wrong {
			for _, one := range []*tally{&e.tally, angles.at(r.Angle), sizes.at(math.Sqrt(float64(r.Rect.Dx()) * float64(r.Rect.Dy())))} {
				one.False++
			}
		}
	}
	e.Angles, e.Sizes = angles.all, sizes.all
	for _, some := range [][]*tally{{&e.tally}, e.Angles, e.Sizes} {
		for _, t := range some {
			t.Recall = float64(t.Found) / float64(max(t.Objects, 1))
			t.Millis = float64(t.took) / float64(time.Millisecond) / float64(max(t.images, 1))
		}
		sort.Slice(some, func(i, j int) bool { return some[i].from < some[j].from })
	}
	w := sh.Results()
	if c.JSON {
		return display.JSON(w, e)
	}
	return e.print(w)
}

func (e *evaluation) print(w io.Writer) error {
	rows := [][]string{{"", "objects", "found", "recall", "false", "ms an image"}}
	add := func(t *tally) {
		recall, millis := "-", "-"
		if t.Objects > 0 {
			recall = fmt.Sprintf("%.1f%%", 100*t.Recall)
		}
		if t.images > 0 {
			millis = display.Rounded(t.Millis)
		}
		rows = append(rows, []string{t.Name, strconv.Itoa(t.Objects), strconv.Itoa(t.Found), recall, strconv.Itoa(t.False), millis})
	}
	for _, some := range [][]*tally{{&e.tally}, e.Angles, e.Sizes} {
		for _, t := range some {
			add(t)
		}
	}
	return display.Columns(w, rows)
}

// truthOf returns the objects in a file.
func truthOf(all []truth, file string, page int) (there []truth, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	same := map[string]bool{}
	for _, t := range all {
		if _, ok := same[t.File]; !ok {
			other, err := os.Stat(t.File)
			same[t.File] = err == nil && os.SameFile(info, other)
		}
		if same[t.File] && t.Width > 0 && (t.Page == 0 || t.Page == page) {
			there = append(there, t)
		}
	}
	return there, nil
}

// compare pairs objects with results, nearest first and each at most once. It returns which objects
// were found, and the results that match no object.
func compare(there []truth, results []detect.Result) (hits []bool, wrong []detect.Result) {
	type match struct {
		iou    float64
		object int
		result int
	}
	var all []match
	for i, t := range there {
		for j, r := range results {
			if math.Abs(math.Remainder(t.Angle-r.Angle, 360)) > angleWithin {
				continue
			}
			f := newFrameOf(r)
			if iou := overlap(t.corners(), r.Corners(), t.Width*t.Height, 4*f.w*f.h); iou >= leastIoU {
				all = append(all, match{iou, i, j})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { // sort.Slice is not instantiated again, as slices.SortFunc would be
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(b.iou, a.iou), cmp.Compare(a.object, b.object), cmp.Compare(a.result, b.result)) < 0
	})
	hits, used := make([]bool, len(there)), make([]bool, len(results))
	for _, m := range all {
		if !hits[m.object] && !used[m.result] {
			hits[m.object], used[m.result] = true, true
		}
	}
	for j, r := range results {
		if !used[j] {
			wrong = append(wrong, r)
		}
	}
	return hits, wrong
}

// corners returns the corners of the rotated rectangle, clockwise.
func (t *truth) corners() (all [4][2]float64) {
	sin, cos := math.Sincos(t.Angle * math.Pi / 180)
	w, h := t.Width/2, t.Height/2
	for i, c := range [4][2]float64{{-w, -h}, {w, -h}, {w, h}, {-w, h}} {
		all[i] = [2]float64{t.X + w + c[0]*cos - c[1]*sin, t.Y + h + c[0]*sin + c[1]*cos}
	}
	return all
}

// overlap returns the area of the intersection of two rectangles divided by the area of their
// union.
func overlap(a, b [4][2]float64, areaA, areaB float64) float64 {
	// Clip a along each edge of b.
	left := a[:]
	for i := range b {
		p, q := b[i], b[(i+1)%4]
		side := func(c [2]float64) float64 { return (q[0]-p[0])*(c[1]-p[1]) - (q[1]-p[1])*(c[0]-p[0]) }
		var next [][2]float64
		for k, c := range left {
			d := left[(k+1)%len(left)]
			s, t := side(c), side(d)
			if s >= 0 {
				next = append(next, c)
			}
			if s*t < 0 {
				next = append(next, [2]float64{c[0] + (d[0]-c[0])*s/(s-t), c[1] + (d[1]-c[1])*s/(s-t)})
			}
		}
		left = next
	}
	area := 0.0
	for k, c := range left {
		d := left[(k+1)%len(left)]
		area += (c[0]*d[1] - c[1]*d[0]) / 2
	}
	return area / (areaA + areaB - area)
}
