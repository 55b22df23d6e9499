package detect_test

import (
	"errors"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/ref"
)

// turnedBy returns an image of the same size, rotated clockwise about a point with bilinear interpolation and replicated
// edges.
func turnedBy(img boxsum.Image[uint8], x, y, degrees float64) boxsum.Image[uint8] {
	out := img
	out.Pix = make([]uint8, img.Width*img.Height*img.Channels)
	out.Stride = img.Width * img.Channels
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for j := range img.Height {
		for i := range img.Width {
			dx, dy := float64(i)+0.5-x, float64(j)+0.5-y
			fx := min(max(x+dx*cos+dy*sin-0.5, 0), float64(img.Width-1))
			fy := min(max(y+dy*cos-dx*sin-0.5, 0), float64(img.Height-1))
			x0, y0 := int(fx), int(fy)
			x1, y1 := min(x0+1, img.Width-1), min(y0+1, img.Height-1)
			ax, ay := fx-float64(x0), fy-float64(y0)
			for c := range img.Channels {
				at := func(x, y int) float64 { return float64(img.Pix[y*img.Stride+x*img.Channels+c]) }
				v := (at(x0, y0)*(1-ax)+at(x1, y0)*ax)*(1-ay) + (at(x0, y1)*(1-ax)+at(x1, y1)*ax)*ay
				out.Pix[j*out.Stride+i*img.Channels+c] = uint8(v + 0.5)
			}
		}
	}
	return out
}

// TestTurned rotates a photograph about its face by all angles, and tests that the face is found where OpenCV finds it in
// the upright photograph, and little else.
func TestTurned(t *testing.T) {
	ref.SkipRace(t)
	photo := photographs(t)[0]
	photo = part(photo, image.Rect(60, 0, 380, 270), 160, 135, 3)
	for k, name := range []string{"frontalface_alt2", "lbpcascade_frontalface.xml", "frontalface_alt2", "lbpcascade_frontalface.xml"} {
		turn := []detect.Turn{detect.TurnImage, detect.TurnTables}[k/2]
		if testing.Short() && (k == 1 || k == 3) {
			continue
		}
		face := cascade(t, fileOf(t, name))
		upright, err := face.Detect(photo, nil)
		if err != nil || len(upright) != 1 {
			t.Fatalf("%s: %v, %v", name, upright, err)
		}
		r := upright[0].Rect
		x, y := float64(r.Min.X+r.Max.X)/2, float64(r.Min.Y+r.Max.Y)/2
		lost, other := 0, 0
		step, tries := 37, 0 // includes angles near those searched and between them
		if testing.Short() {
			step = 111
		}
		for degrees := -170; degrees <= 180; degrees += step {
			tries++
			img := turnedBy(photo, x, y, float64(degrees))
			found, err := face.Detect(img, &detect.Options{Angles: detect.AllAngles(), Min: image.Pt(32, 32), Turn: turn})
			if err != nil {
				t.Fatal(err)
			}
			hit := false
			for _, f := range found {
				fx, fy := float64(f.Rect.Min.X+f.Rect.Max.X)/2, float64(f.Rect.Min.Y+f.Rect.Max.Y)/2
				size := float64(r.Dx())
				if math.Hypot(fx-x, fy-y) < size/5 && math.Abs(math.Remainder(f.Angle-float64(degrees), 360)) < 15 && math.Abs(math.Log(float64(f.Rect.Dx())/size)) < 0.35 && !hit {
					hit = true
				} else {
					other++
				}
			}
			if !hit {
				lost++
				t.Logf("%s at %d°: %v", name, degrees, found)
			}
		}
		t.Logf("%s: %d of %d are lost, %d others are found", name, lost, tries, other)
		most := tries / 5
		if face.Kind() == detect.LBP { // which has more false detections
			most = tries
		}
		if lost > 0 || other > most {
			t.Errorf("%s: %d of %d are lost, and %d others are found", name, lost, tries, other)
		}
	}
}

// TestQuarterTurns tests that a face is found alike in all four quarter turns.
func TestQuarterTurns(t *testing.T) {
	photo := part(photographs(t)[0], image.Rect(100, 0, 340, 240), 120, 120, 1)
	face := cascade(t, fileOf(t, "frontalface_alt2"))
	for _, angle := range []float64{0, 90, 180, -90} {
		found, err := face.Detect(photo, &detect.Options{Angles: []float64{angle, angle, angle + 360*math.Copysign(1, -angle)}})
		if err != nil || len(found) != 1 || found[0].Angle != angle {
			t.Fatalf("%v°: %v, %v", angle, found, err)
		}
		next := boxsum.Image[uint8]{Pix: make([]uint8, len(photo.Pix)), Width: 120, Height: 120, Channels: 1, Stride: 120}
		for y := range 120 {
			for x := range 120 {
				next.Pix[x*120+119-y] = photo.Pix[y*photo.Stride+x]
			}
		}
		photo = next
	}
}

// TestTurnedSame tests that results for rotated objects depend only on the image and the options.
func TestTurnedSame(t *testing.T) {
	photo := part(photographs(t)[0], image.Rect(60, 0, 380, 270), 130, 110, 1)
	face := cascade(t, fileOf(t, "lbpcascade_frontalface.xml"))
	for _, turn := range []detect.Turn{detect.TurnImage, detect.TurnTables} {
		turnedSame(t, face, photo, detect.Options{Angles: []float64{-30, 0, 15, 60, 45}, Neighbors: 1, NearMisses: 2, Min: image.Pt(35, 35), Turn: turn})
		turnedSame(t, cascade(t, fileOf(t, "frontalface_alt2")), photo, detect.Options{Angles: []float64{-30, 0, 15, 60, 45}, Neighbors: 1, NearMisses: 9, Min: image.Pt(35, 35), Turn: turn})
	}
}

func turnedSame(t *testing.T, face *detect.Cascade, photo boxsum.Image[uint8], opt detect.Options) {
	var want []detect.Result
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 5} {
			opt.Level, opt.Workers = level, workers
			got, err := face.Detect(photo, &opt)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if len(got) == 0 || !slices.Equal(got, want) {
				t.Fatalf("%v, %d workers: %v, want %v", level, workers, got, want)
			}
		}
	}
	opt.Workers = 1
	to := make([]detect.Result, 0, 100)
	ref.AllocatesNothing(t, "turned", func() (err error) {
		to, err = face.AppendDetect(to[:0], photo, &opt)
		return err
	})
	all, err := face.Detect(photo, &detect.Options{Angles: opt.Angles, Neighbors: 1, Turn: opt.Turn})
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	none, err := face.Detect(photo, &detect.Options{Angles: opt.Angles, Neighbors: 1, Turn: opt.Turn, Ignore: []image.Rectangle{image.Rect(0, 0, 130, 110)}})
	if err != nil || len(none) != 0 {
		t.Errorf("all of the image is to be left out: %v, %v", none, err)
	}
	// Ignored windows do not count towards the limit.
	if one, err := face.Detect(photo, &detect.Options{Angles: opt.Angles, Limit: 1, Turn: opt.Turn, Ignore: []image.Rectangle{image.Rect(0, 0, 130, 110)}}); err != nil || len(one) != 0 {
		t.Errorf("all of the image is to be left out, and the limit is one: %v, %v", one, err)
	}
	if large, err := face.Detect(photo, &detect.Options{Angles: opt.Angles, Min: image.Pt(60, 60), Ungrouped: true, Turn: opt.Turn}); err != nil || slices.ContainsFunc(large, func(r detect.Result) bool { return r.Rect.Dx() < 60 }) {
		t.Errorf("windows of 60 pixels at least: %v, %v", large, err)
	}
	if small, err := face.Detect(photo, &detect.Options{Angles: opt.Angles, Max: image.Pt(40, 40), Ungrouped: true, Turn: opt.Turn}); err != nil || slices.ContainsFunc(small, func(r detect.Result) bool { return r.Rect.Dx() > 40 }) {
		t.Errorf("windows of 40 pixels at most: %v, %v", small, err)
	}
}

// TestAnglesTogether tests that a list of angles finds what each angle does alone: windows that are not square have another position at each.
func TestAnglesTogether(t *testing.T) {
	ref.SkipRace(t)
	photo := part(photographs(t)[0], image.Rect(0, 0, 512, 512), 170, 120, 1)
	for k, name := range []string{"lbpcascade_profileface", "lbpcascade_silverware", "russian_plate_number", "lbpcascade_profileface", "frontalface_alt2"} {
		c := cascade(t, fileOf(t, name))
		opt := detect.Options{Ungrouped: true, NearMisses: 20, Scale: 1.3}
		if k > 2 {
			opt.Turn = detect.TurnTables
		}
		angles := []float64{67.5, 157.5, 22.5, 112.5, 180, 90}
		each := map[detect.Result]bool{}
		for _, angle := range angles {
			opt.Angles = []float64{angle}
			found, err := c.Detect(photo, &opt)
			if err != nil || len(found) == 0 {
				t.Fatalf("%s at %v°: %v, %v", name, angle, found, err)
			}
			for _, r := range found {
				each[r] = true
			}
		}
		last := -1.
		opt.Angles = append(angles, 67.5, 22.5)
		opt.Progress = func(done float64) {
			if done < last || done > 1 {
				t.Errorf("%v is done after %v", done, last)
			}
			last = done
		}
		found, err := c.Detect(photo, &opt)
		if err != nil || len(found) != len(each) || last != 1 {
			t.Fatalf("%s: %d windows, and %d by one angle after the other, %v of all is done, %v", name, len(found), len(each), last, err)
		}
		for _, r := range found {
			if !each[r] {
				t.Fatalf("%s: %v is not found by its angle", name, r)
			}
		}
	}
}

func TestTurnedErrors(t *testing.T) {
	face := cascade(t, fileOf(t, "lbpcascade_frontalface.xml"))
	img, _ := boxsum.NewImage[uint8](50, 40, 1)
	for want, opt := range map[string]detect.Options{
		"angle is NaN":                          {Angles: []float64{math.NaN()}},
		"angle is 361":                          {Angles: []float64{361}},
		"compat cannot be combined with angles": {Angles: []float64{90}, Compat: true},
		"unknown Turn 3":                        {Turn: 3},
		"scale is 1":                            {Angles: []float64{90}, Scale: 1},
		"image has 2 channels":                  {Angles: []float64{10}, Neighbors: 8},
		"more than 1 windows pass":              {Angles: []float64{10, 20}, Limit: 1, Ungrouped: true},
	} {
		c, im := face, img
		if opt.Neighbors == 8 {
			im, _ = boxsum.NewImage[uint8](50, 40, 2)
		}
		if opt.Limit == 1 {
			im = part(photographs(t)[0], image.Rect(100, 0, 340, 240), 120, 120, 1)
		}
		_, err := c.Detect(im, &opt)
		if err == nil || !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	plate := cascade(t, fileOf(t, "russian_plate_number"))
	if _, err := plate.Detect(img, &detect.Options{Angles: []float64{20}, Turn: detect.TurnTables}); err == nil || !strings.Contains(err.Error(), "tilted features") {
		t.Errorf("tilted features on rotated tables: %v", err)
	}
	plain := boxsum.Image[uint8]{Pix: img.Pix, Width: 50, Height: 40} // zeros mean one channel and no gaps
	if _, err := face.Detect(plain, &detect.Options{Angles: []float64{10, 45, 90}}); err != nil {
		t.Error(err)
	}
	for _, size := range []image.Point{{0, 0}, {1, 1}, {23, 23}, {24, 24}, {50, 3}} {
		im, _ := boxsum.NewImage[uint8](size.X, size.Y, 1)
		if found, err := face.Detect(im, &detect.Options{Angles: detect.AllAngles()}); err != nil || len(found) != 0 {
			t.Errorf("an image of %v: %v, %v", size, found, err)
		}
		if found, err := face.Detect(im, &detect.Options{Angles: detect.AllAngles(), Turn: detect.TurnTables}); err != nil || len(found) != 0 {
			t.Errorf("an image of %v with rotated tables: %v, %v", size, found, err)
		}
	}
}

// TestTiltedTurns tests that a cascade with tilted features finds the same in quarter turns of an image as upright.
func TestTiltedTurns(t *testing.T) {
	photo := part(photographs(t)[0], image.Rect(100, 0, 340, 240), 96, 90, 1)
	for _, name := range []string{"frontalcatface_extended", "smile"} {
		c := cascade(t, fileOf(t, name))
		// Larger windows are searched at other positions than upright ones.
		opt := detect.Options{Neighbors: 1, NearMisses: 14, Scale: 1.2, Ungrouped: true, Max: c.Window().Mul(2).Sub(image.Pt(1, 1))}
		upright, err := c.Detect(photo, &opt)
		if err != nil || len(upright) == 0 {
			t.Fatalf("%v, %v", upright, err)
		}
		img := photo
		for angle := 90.; angle <= 360; angle += 90 {
			next, _ := boxsum.NewImage[uint8](img.Height, img.Width, 1)
			for y := range img.Height {
				for x := range img.Width {
					next.Pix[x*next.Stride+img.Height-1-y] = img.Pix[y*img.Stride+x]
				}
			}
			img = next
			opt.Angles = []float64{angle}
			found, err := c.Detect(img, &opt)
			if err != nil || len(found) != len(upright) {
				t.Fatalf("%s at %v°: %d results, and upright %d, %v", name, angle, len(found), len(upright), err)
			}
			for i := range found {
				if found[i].Score != upright[i].Score || found[i].Stage != upright[i].Stage {
					t.Fatalf("%s at %v°: %v, and upright %v", name, angle, found[i], upright[i])
				}
			}
		}
		found, err := c.Detect(photo, &detect.Options{Angles: []float64{22.5, 0}, Scale: 1.3})
		t.Logf("%s: %d windows, %v, %v", name, len(upright), found, err)
	}
}

// TestShared tests that angles between multiples of 45° find the same together with others as alone, and that the others
// do, too.
func TestShared(t *testing.T) {
	ref.SkipRace(t)
	photo := part(photographs(t)[0], image.Rect(60, 0, 380, 270), 160, 135, 1)
	for _, name := range []string{"frontalface_alt2", "frontalface_default", "lbpcascade_frontalface.xml"} {
		face := cascade(t, fileOf(t, name))
		for _, degrees := range []float64{0, 20} {
			if testing.Short() && (degrees == 0 || name != "frontalface_alt2") {
				continue
			}
			img := photo
			if degrees != 0 {
				img = turnedBy(photo, 70, 60, degrees)
			}
			opt := detect.Options{Angles: detect.AllAngles(), Min: image.Pt(35, 35), Ungrouped: true}
			shared, err := face.Detect(img, &opt)
			if err != nil {
				t.Fatal(err)
			}
			opt.EachAngle = true
			each, err := face.Detect(img, &opt)
			if err != nil {
				t.Fatal(err)
			}
			straight := func(all []detect.Result) (some []detect.Result) {
				for _, r := range all {
					if math.Mod(r.Angle, 45) == 0 {
						some = append(some, r)
					}
				}
				return some
			}
			if !slices.Equal(straight(shared), straight(each)) {
				t.Errorf("%s, %v°: multiples of 45° find %d windows, and %d by themselves", name, degrees, len(straight(shared)), len(straight(each)))
			}
			opt.Ungrouped, opt.Neighbors = false, 12
			want, err := face.Detect(img, &opt)
			if err != nil || len(want) == 0 {
				t.Fatalf("%s, %v°: %v, %v", name, degrees, want, err)
			}
			opt.EachAngle = false
			got, err := face.Detect(img, &opt)
			if err != nil || len(got) == 0 {
				t.Fatalf("%s, %v°: %v, %v", name, degrees, got, err)
			}
			middle := func(r detect.Result) image.Point { return r.Rect.Min.Add(r.Rect.Max).Div(2) }
			if d := middle(got[0]).Sub(middle(want[0])); max(d.X, -d.X, d.Y, -d.Y) > 4 || math.Abs(math.Remainder(got[0].Angle-want[0].Angle, 360)) > 8 {
				t.Errorf("%s, %v°: %v, and by themselves %v", name, degrees, got, want)
			}
			t.Logf("%s, %v°: %d windows, by themselves %d; %v, %v", name, degrees, len(shared), len(each), got, want)
		}
	}
}

// TestMirrored tests that mirrored objects in an image are the objects in the mirrored image.
func TestMirrored(t *testing.T) {
	ref.SkipRace(t)
	photo := photographs(t)[0]
	for _, name := range []string{"profileface.xml", "lbpcascade_profileface", "frontalface_alt2", "smile"} {
		c := cascade(t, fileOf(t, name))
		size := c.Window()
		tries := 0
		for k := range 40 {
			at := image.Pt(k*7, k*5)
			img := part(photo, image.Rectangle{at, at.Add(image.Pt(150+k, 160))}, size.X, size.Y, 1)
			mirror, _ := boxsum.NewImage[uint8](size.X, size.Y, 1)
			for y := range size.Y {
				for x := range size.X {
					mirror.Pix[y*mirror.Stride+size.X-1-x] = img.Pix[y*img.Stride+x]
				}
			}
			opt := detect.Options{Mirror: true, NearMisses: 100, Ungrouped: true, Contrast: 1}
			if k%2 != 0 {
				opt.Angles = []float64{0, 180}
			}
			one, err := c.Detect(img, &opt)
			if err != nil {
				t.Fatal(err)
			}
			other, err := c.Detect(mirror, &opt)
			if err != nil || len(one) != len(other) {
				t.Fatalf("%s: %v, %v, %v", name, one, other, err)
			}
			for _, r := range one {
				tries++
				r.Mirrored = !r.Mirrored
				if !slices.Contains(other, r) {
					t.Fatalf("%s: %v is not in %v", name, r, other)
				}
			}
		}
		if tries < 40 {
			t.Errorf("%s: only %d windows", name, tries)
		}
		// At any angle: an object rotated to the right is rotated to the left in the mirror.
		small := part(photo, image.Rect(60, 0, 380, 270), 160, 135, 1)
		mirror, _ := boxsum.NewImage[uint8](160, 135, 1)
		for y := range 135 {
			for x := range 160 {
				mirror.Pix[y*mirror.Stride+159-x] = small.Pix[y*small.Stride+x]
			}
		}
		if name != "frontalface_alt2" {
			continue
		}
		for _, turn := range []detect.Turn{detect.TurnImage, detect.TurnTables} {
			opt := detect.Options{Mirror: true, Angles: []float64{20}, Min: image.Pt(35, 35), Turn: turn}
			one, err := c.Detect(turnedBy(small, 82, 57, 20), &opt)
			if err != nil || len(one) == 0 || !slices.ContainsFunc(one, func(r detect.Result) bool { return r.Mirrored }) {
				t.Fatalf("%s: %v, %v: faces are the same in a mirror, nearly", name, one, err)
			}
			opt.Angles = []float64{-20}
			other, err := c.Detect(turnedBy(mirror, 78, 57, -20), &opt)
			if err != nil || len(other) != len(one) {
				t.Fatalf("%s: %v, %v, %v", name, one, other, err)
			}
			for i := range one {
				same := func(r detect.Result) bool {
					d := image.Pt(160-r.Rect.Max.X, r.Rect.Min.Y).Sub(one[i].Rect.Min)
					return r.Mirrored != one[i].Mirrored && max(d.X, -d.X, d.Y, -d.Y) <= 3 && math.Abs(r.Angle+one[i].Angle) < 1
				}
				if !slices.ContainsFunc(other, same) {
					t.Errorf("%s: %v, and in the mirror %v", name, one[i], other)
				}
			}
		}
	}
	face := cascade(t, fileOf(t, "frontalface_alt2"))
	img := part(photo, image.Rect(60, 0, 380, 270), 160, 135, 1)
	if _, err := face.Detect(img, &detect.Options{Mirror: true, Compat: true}); err == nil || !strings.Contains(err.Error(), "compat cannot be combined with mirror") {
		t.Errorf("mirrored with Compat: %v", err)
	}
	// The upright search is unchanged.
	plain, err := face.Detect(img, &detect.Options{Ungrouped: true})
	if err != nil || len(plain) == 0 {
		t.Fatal(plain, err)
	}
	both, err := face.Detect(img, &detect.Options{Ungrouped: true, Mirror: true})
	if err != nil || len(both) <= len(plain) || !slices.Equal(both[:len(plain)], plain) {
		t.Errorf("%d windows, and %d with mirrored ones, %v", len(plain), len(both), err)
	}
}
