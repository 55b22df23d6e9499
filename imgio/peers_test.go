package imgio

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
)

// pillow runs a script that uses Pillow and tifffile, which come with scikit-image, and decodes its output.
func pillow(t *testing.T, to any, args ...string) {
	t.Helper()
	cmd := exec.Command(ref.Python(t), append([]string{"testdata/pillow.py"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPillowReads tests that Pillow and tifffile read pages and metadata written by this package.
func TestPillowReads(t *testing.T) {
	folder := t.TempDir()
	m := Metadata{XResolution: 300, YResolution: 200, Orientation: 6, ICCProfile: profile("RGB ", 80_000)}
	names := []string{"a.png", "a.jpg", "a.tif", "scan.tif"}
	for i, name := range names {
		names[i] = filepath.Join(folder, name)
	}
	for _, name := range names[:3] {
		if err := SaveWith(name, noise[uint8](37, 23, 3), m); err != nil {
			t.Fatal(err)
		}
	}
	for i, img := range []any{
		noise[uint32](5, 7, 1), noise[int16](5, 7, 1), noise[int32](70, 7, 3), noise[uint64](5, 7, 1), noise[int64](5, 7, 1),
		noise[float32](300, 201, 2), noise[float64](5, 7, 1), noise[float64](5, 7, 4), noise[uint16](7, 5, 3),
	} {
		name := fmt.Sprintf("%s/%d.", folder, i)
		if err := errors.Join(Save(name+"tif", img), Save(name+"npy", img)); err != nil {
			t.Fatal(err)
		}
		names = append(names, name+"tif")
	}
	f, err := os.Create(names[3])
	if err != nil {
		t.Fatal(err)
	}
	w := NewTIFFWriter(f)
	bits := &packedBits{make([]byte, 5*20), 5, 37, 20}
	noisy(bits.data)
	for _, img := range []any{bits, noise[uint8](30, 200, 1), noise[uint16](3, 3, 1), bits, noise[float32](5, 4, 1), noise[uint8](6, 7, 4)} {
		if err := w.Add(img, Metadata{XResolution: 600, YResolution: 600}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	type page struct {
		size        [2]int
		mode        string
		x, y        float64
		orientation int
		icc         string
		compression string
	}
	var found map[string][][6]any
	pillow(t, &found, append([]string{"read"}, names...)...)
	pages := func(name string) (all []page) {
		for _, p := range found[name] {
			size, dpi := p[0].([]any), p[2].([]any)
			all = append(all, page{[2]int{int(size[0].(float64)), int(size[1].(float64))}, p[1].(string), dpi[0].(float64), dpi[1].(float64), int(p[3].(float64)), p[4].(string), p[5].(string)})
		}
		return all
	}
	icc := hex.EncodeToString(m.ICCProfile)
	for _, name := range []string{"a.png", "a.jpg", "a.tif"} {
		got, size := pages(name), [2]int{37, 23}
		if name == "a.tif" { // Pillow applies the orientation
			size = [2]int{23, 37}
		}
		if len(got) != 1 || got[0].size != size || got[0].mode != "RGB" || math.Abs(got[0].x-300) > 0.02 || math.Abs(got[0].y-200) > 0.02 || got[0].orientation != 6 || got[0].icc != icc {
			t.Errorf("%s: %.100v", name, got)
		}
	}
	var modes string
	for _, p := range pages("scan.tif") {
		modes += fmt.Sprint(p.mode, " ", p.size, " ", p.compression, ", ")
		if p.x != 600 || p.y != 600 {
			t.Errorf("a page of %v×%v dpi", p.x, p.y)
		}
	}
	if want := "1 [37 20] group4, L [30 200] raw, I;16 [3 3] raw, 1 [37 20] group4, F [5 4] raw, RGBA [6 7] raw, "; modes != want {
		t.Errorf("pages %s, want %s", modes, want)
	}
}

// TestPillowWrites reads pages and metadata written by Pillow and tifffile.
func TestPillowWrites(t *testing.T) {
	folder := t.TempDir()
	var icc string
	pillow(t, &icc, "write", folder)
	for _, c := range []struct {
		name        string
		x, y        float64
		orientation int
		icc         string
	}{
		{"a.png", 300, 300, 6, icc}, {"a.jpg", 300, 200, 6, icc}, {"a.webp", 0, 0, 6, icc}, {"a.tif", 300, 200, 6, icc},
		{"metric.tif", 118 * 2.54, 118 * 2.54, 0, ""}, {"a.bmp", 300, 300, 0, ""},
	} {
		p, err := OpenWith(filepath.Join(folder, c.name), Options{Color: Keep, AsStored: true})
		if err != nil {
			t.Fatal(err)
		}
		m := p.Metadata
		if math.Abs(m.XResolution-c.x) > 0.02 || math.Abs(m.YResolution-c.y) > 0.02 || m.Orientation != c.orientation || hex.EncodeToString(m.ICCProfile) != c.icc {
			t.Errorf("%s: %v", c.name, m)
		}
	}
	pages, err := OpenPages(filepath.Join(folder, "scan.tif"), Options{Color: Keep})
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	if pages.N != 5 {
		t.Fatalf("%d pages", pages.N)
	}
	for n := range pages.N {
		got, err := pages.Page(n + 1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Open(fmt.Sprintf("%s/scan%d.npy", folder, n+1), Keep)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(tight(got.Image.(boxsum.Image[uint8])), want.Image) || got.Metadata.XResolution != 600 {
			t.Errorf("page %d: other pixels, or %v", n+1, got.Metadata)
		}
	}
}
