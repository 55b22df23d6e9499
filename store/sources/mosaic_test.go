package sources

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/zarr"
)

// everything reads all elements at once, and compares some boxes of them.
func everything(t *testing.T, a *zarr.Array) []byte {
	t.Helper()
	all := raster.Aligned(raster.Product(a.Shape()) * a.Type().Size())
	if err := a.ReadBytes(ctx, all, make([]int, len(a.Shape())), a.Shape()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		at, box := make([]int, len(a.Shape())), make([]int, len(a.Shape()))
		for d, n := range a.Shape() {
			at[d] = rand.IntN(n)
			box[d] = 1 + rand.IntN(n-at[d])
		}
		part := raster.Aligned(raster.Product(box) * a.Type().Size())
		want := raster.Aligned(len(part))
		copyBox(want, all, a.Shape(), at, box, a.Type().Size())
		if err := a.ReadBytes(ctx, part, at, box); err != nil || !bytes.Equal(part, want) {
			t.Fatalf("a box of %v at %v differs: %v", box, at, err)
		}
	}
	return all
}

// TestMosaicPeers compares virtual files of GDAL and GeoTIFF files with what rasterio reads.
func TestMosaicPeers(t *testing.T) {
	name := ref.Stores(t)
	dir := t.TempDir()
	if out, err := exec.Command(name, "testdata/mosaic.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, _ := filepath.Glob(dir + "/*.bin")
	if len(files) < 28 {
		t.Fatalf("%d mosaics", len(files))
	}
	for _, file := range files {
		want, _ := os.ReadFile(file)
		var a *zarr.Array
		if list, err := os.ReadFile(strings.TrimSuffix(file, ".bin") + ".list"); err == nil {
			tiles, err := PlaceTIFFs(ctx, strings.Split(string(list), "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if a, err = OpenMosaic(ctx, tiles); err != nil {
				t.Fatal(err)
			}
			star, err := Open(ctx, strings.TrimSuffix(file, ".bin")+"-*.tif")
			if err != nil || !bytes.Equal(everything(t, star), want) {
				t.Errorf("%s: all files of a kind: %v", file, err)
			}
		} else if a, err = Open(ctx, strings.TrimSuffix(file, ".bin")+".vrt"); err != nil {
			t.Fatal(err)
		}
		got := everything(t, a)
		if a.Type() == zarr.Float32 { // any NaN will do
			for i := 0; i < len(got); i += 4 {
				if isNaN(zarr.Float32, got[i:i+4]) && isNaN(zarr.Float32, want[i:i+4]) {
					copy(got[i:], want[i:i+4])
				}
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s of shape %v is not what GDAL sees", file, a.Shape())
		}
		a.Close()
	}
}

// TestMosaic cuts images of noise into tiles of all kinds and combines them by a list, by a pattern and in Go: the pixels must be the same.
func TestMosaic(t *testing.T) {
	for _, channels := range []int{1, 3} {
		w, h := 300, 210
		whole := boxsum.Image[uint8]{Pix: noise(w*h*channels, 3), Width: w, Height: h, Channels: channels, Stride: w * channels}
		want := whole.Pix
		cut := func(dir, name string, r image.Rectangle) {
			t.Helper()
			part := boxsum.Image[uint8]{Pix: whole.Pix[r.Min.Y*whole.Stride+r.Min.X*channels:], Width: r.Dx(), Height: r.Dy(), Channels: channels, Stride: whole.Stride}
			path := filepath.Join(dir, name)
			if strings.HasSuffix(name, ".zarr") {
				shape, at := []int{r.Dy(), r.Dx(), channels}, []int{0, 0, 0}
				axes := min(channels, 2) + 1
				a, err := zarr.Create(ctx, zarr.Folder(path), "", &zarr.Spec{Type: zarr.Uint8, Shape: shape[:axes], Chunk: []int{32, 32, 2}[:axes], Compression: "zstd"})
				if err == nil {
					_, _, data, _ := rowsOf(part)
					err = zarr.Write(ctx, a, data, at[:axes], shape[:axes])
				}
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err := imgio.Save(path, part); err != nil {
				t.Fatal(err)
			}
		}
		check := func(what string, a *zarr.Array, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if got := everything(t, a); !bytes.Equal(got, want) {
				t.Errorf("%s: other pixels", what)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
		// A grid with tiles of all kinds, the last of which are smaller.
		dir := t.TempDir()
		kinds := []string{".png", ".tiff", ".npy", ".zarr", ".pnm"}
		list, places := "file,row,column\n", "# comment\ny, x, file\n"
		var tiles []Tile
		for n := range 3 * 4 {
			row, column := n/4, n%4
			r := image.Rect(column*80, row*90, column*80+80, row*90+90).Intersect(image.Rect(0, 0, w, h))
			name := fmt.Sprintf("tile-%d%s", n, kinds[n%5])
			cut(dir, name, r)
			cut(dir, fmt.Sprintf("r%02d c%d.png", row+1, column+1), r)
			cut(dir, fmt.Sprintf("at_%d_%d.npy", r.Min.X, r.Min.Y), r)
			list += fmt.Sprintf("%s,%d,%d\n", name, row+5, column)
			places += fmt.Sprintf("%d,%d,\"%s\"\n", r.Min.Y, r.Min.X, name)
			tiles = append(tiles, Tile{filepath.Join(dir, name), r.Min.X, r.Min.Y})
		}
		os.WriteFile(dir+"/list.csv", []byte(list), 0o666)
		os.WriteFile(dir+"/places.csv", []byte(places), 0o666)
		for _, location := range []string{dir + "/list.csv", dir + "/places.csv", "file://" + dir + "/list.csv", dir + "/r{row} c{column}.png", dir + "/r{row}*{col}.png", dir + "/at_{x}_{y}.npy"} {
			a, err := Open(ctx, location)
			check(location, a, err)
			if a.Object()[0] != 90 || a.Object()[1] != 80 {
				t.Errorf("%s: chunks of %v, and not the tiles", location, a.Object())
			}
		}
		a, err := OpenMosaic(ctx, tiles)
		check("tiles", a, err)

		// Tiles at arbitrary positions: later ones cover earlier ones, and pixels without a tile are 0.
		dir, tiles = t.TempDir(), nil
		seen := make([]byte, len(want))
		for n := range 9 {
			r := image.Rect(0, 0, 1+rand.IntN(w), 1+rand.IntN(h))
			r = r.Add(image.Pt(rand.IntN(w-r.Dx()+1), rand.IntN(h-r.Dy()+1)))
			if n == 8 {
				r = image.Rect(w-1, h-1, w, h)
			}
			for i := range whole.Pix {
				whole.Pix[i] = byte(rand.Uint32())
			}
			for y := r.Min.Y; y < r.Max.Y; y++ {
				copy(seen[(y*w+r.Min.X)*channels:(y*w+r.Max.X)*channels], whole.Pix[(y*w+r.Min.X)*channels:])
			}
			name := fmt.Sprintf("%d%s", n, kinds[n%5])
			cut(dir, name, r)
			tiles = append(tiles, Tile{filepath.Join(dir, name), r.Min.X, r.Min.Y})
		}
		want = seen
		a, err = OpenMosaic(ctx, tiles)
		check("anywhere", a, err)
	}
}

// TestPatterns tests file name patterns as written by shells and by people.
func TestPatterns(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"tiles/0_1.png", "tiles/0_0.png", "a[1]b/0_0.png", "rows/0/0.png", "rows/0/1.png"} {
		os.MkdirAll(filepath.Dir(name), 0o777)
		if err := imgio.Save(name, boxsum.Image[uint8]{Pix: make([]byte, 64), Width: 8, Height: 8, Channels: 1, Stride: 8}); err != nil {
			t.Fatal(err)
		}
	}
	here, _ := os.Getwd()
	for pattern, width := range map[string]int{
		"tiles/{row}_{column}.png": 16, "./tiles/{row}_{column}.png": 16, "tiles//{row}_{col}.png": 16, here + "/tiles/../tiles/{row}_{column}.png": 16,
		"a[1]b/{row}_{column}.png": 8, "rows/{row}/{column}.png": 16, "./rows/{row}/{column}.*": 16,
	} {
		a, err := Open(ctx, pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if a.Shape()[1] != width {
			t.Errorf("%s: %d pixels wide", pattern, a.Shape()[1])
		}
		a.Close()
	}
}

// TestNestedMosaics opens mosaics of mosaics, all of whose tiles count towards one limit.
func TestNestedMosaics(t *testing.T) {
	dir := t.TempDir()
	if err := imgio.Save(dir+"/a.png", boxsum.Image[uint8]{Pix: []byte{7}, Width: 1, Height: 1, Channels: 1, Stride: 1}); err != nil {
		t.Fatal(err)
	}
	for n, of := range []string{"a.png", "0.csv", "1.csv"} {
		os.WriteFile(fmt.Sprintf("%s/%d.csv", dir, n), []byte("file,row,column\n"+of+",0,0\n"+of+",0,1\n"+of+",0,2\n"), 0o666)
	}
	left := 100
	a, err := open(ctx, dir+"/2.csv", nil, nest{0, &left})
	if err != nil {
		t.Fatal(err)
	}
	if spent := 2 * (3 + 9 + 27); left != 100-spent || !bytes.Equal(everything(t, a), bytes.Repeat([]byte{7}, 27)) {
		t.Errorf("%d of 100 left", left)
	}
	if left = 50; a != nil {
		if _, err := open(ctx, dir+"/2.csv", nil, nest{0, &left}); !errors.Is(err, zarr.ErrFormat) {
			t.Errorf("more tiles than may be: %v", err)
		}
	}
	// One large tile and a small one: the index must not be larger than necessary.
	m := &mosaic{width: 1 << 20, height: 1 << 20, chunk: [2]int{1024, 1024}, pieces: []piece{{dst: image.Rect(0, 0, 1<<20, 1<<20)}, {dst: image.Rect(5000, 5000, 5001, 5001)}}}
	if m.index(); len(m.cells) > 1<<12 || len(m.cells[[2]int{0, 0}]) != 2 {
		t.Errorf("%d cells of %d chunks", len(m.cells), m.step)
	}
}

// TestSpills reads a row of pictures that does not fit in memory: each is decoded once, or repeatedly if they exceed the limit on disk space.
func TestSpills(t *testing.T) {
	from, limit := spillFrom, spillLimit
	defer func() { spillFrom, spillLimit = from, limit }()
	t.Setenv("TMPDIR", t.TempDir())
	spillFrom = 1 << 16
	const side, count = 600, 4
	dir := t.TempDir()
	want := make([]byte, count*side*side)
	random := rand.New(rand.NewPCG(5, 6))
	for n := range count {
		tile := boxsum.Image[uint8]{Pix: make([]byte, side*side), Width: side, Height: side, Channels: 1, Stride: side}
		for i := range tile.Pix {
			tile.Pix[i] = byte(random.Uint32())
		}
		for y := range side {
			copy(want[(y*count+n)*side:], tile.Row(y))
		}
		if err := imgio.Save(fmt.Sprintf("%s/%d_%d.png", dir, 0, n), tile); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int64{2 * side * side, 10, 1 << 30} {
		spillLimit = limit
		a, err := Open(ctx, dir+"/{row}_{column}.png")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range a.Bucket().(*made).parts {
			if part.Footprint() != side*side || part.Chunk()[0] != 256 {
				t.Errorf("%d bytes are decoded, in chunks of %v", part.Footprint(), part.Chunk())
			}
		}
		a.SetCache(zarr.NewCache(300 << 10)) // holds at most one tile
		got := make([]byte, len(want))
		for y := 0; y < side; y += 50 {
			if err := zarr.Read(ctx, a, got[y*count*side:(y+50)*count*side], []int{y, 0}, []int{50, count * side}); err != nil {
				t.Fatal(err)
			}
			if limit == 1<<30 { // the last case: pictures that have been decoded are not read again
				for n := range count {
					os.Remove(fmt.Sprintf("%s/0_%d.png", dir, n))
				}
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("with %d bytes of disk: not the pixels", limit)
		}
		if all := min(limit, count*side*side) / (side * side) * (side * side); spills.bytes != all || int64(len(spills.list))*side*side != all {
			t.Errorf("%d bytes in %d files, of %d allowed", spills.bytes, len(spills.list), limit)
		}
		a.Close()
		if spills.bytes != 0 || len(spills.list) != 0 {
			t.Errorf("%d bytes in %d files are left", spills.bytes, len(spills.list))
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// An unlisted bucket does not support List, like a web server.
type unlisted struct{ zarr.Bucket }

func (u unlisted) List(context.Context, string, func(zarr.Object) error) error {
	return errors.ErrUnsupported
}

// TestUnlistedTiles tests that a tile whose bucket cannot list objects does not exclude later tiles and positions from the fingerprint.
func TestUnlistedTiles(t *testing.T) {
	print := func(x int, v byte) string {
		m := &mosaic{typ: zarr.Uint8, width: 24, height: 8, channels: 1}
		for i := range 2 {
			b := zarr.Memory()
			a, err := zarr.Create(ctx, b, "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{8, 8}, Chunk: []int{8, 8}})
			if err == nil {
				err = zarr.Write(ctx, a, bytes.Repeat([]byte{v}, 64), []int{0, 0}, []int{8, 8})
			}
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if a, err = zarr.OpenArray(ctx, unlisted{b}, ""); err != nil {
					t.Fatal(err)
				}
			}
			m.tiles, m.names = append(m.tiles, a), append(m.names, fmt.Sprint(i))
			m.pieces = append(m.pieces, piece{tile: i, dst: image.Rect(0, 0, 8, 8).Add(image.Pt(i*x, 0)), from: -1, to: -1})
		}
		a, err := m.open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return objects(t, a)
	}
	first := print(8, 1)
	if print(8, 1) != first || print(16, 1) == first || print(8, 2) == first {
		t.Error("the fingerprint is not that of all tiles and places")
	}
}

func TestMosaicErrors(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, img any) {
		if err := imgio.Save(dir+"/"+name, img); err != nil {
			t.Fatal(err)
		}
	}
	image8 := func(w, h, c int) any {
		return boxsum.Image[uint8]{Pix: make([]byte, w*h*c), Width: w, Height: h, Channels: c, Stride: w * c}
	}
	save("a.png", image8(8, 8, 1))
	save("small.png", image8(7, 8, 1))
	save("rgb.png", image8(8, 8, 3))
	save("16.png", boxsum.Image[uint16]{Pix: make([]uint16, 64), Width: 8, Height: 8, Channels: 1, Stride: 8})
	save("a.tiff", image8(8, 8, 1))
	os.WriteFile(dir+"/damaged.png", []byte("\x89PNG\r\n\x1a\nand no more"), 0o666)
	for name, text := range map[string]string{
		"a line":    "file,x,y\n",
		"places":    "file,x,y\na.png,-1,0\n",
		"columns":   "file,x\na.png,0\n",
		"words":     "file,x,y\na.png,one,0\n",
		"missing":   "file,x,y\nnothing.png,0,0\n",
		"types":     "file,x,y\na.png,0,0\n16.png,8,0\n",
		"channels":  "file,x,y\na.png,0,0\nrgb.png,8,0\n",
		"damaged":   "file,x,y\na.png,0,0\ndamaged.png,8,0\n",
		"itself":    "file,x,y\nmosaic.csv,0,0\n",
		"grid":      "file,row,column\nsmall.png,0,0\na.png,0,1\n",
		"one place": "file,row,column\na.png,0,0\na.png,0,0\n",
	} {
		os.WriteFile(dir+"/mosaic.csv", []byte(text), 0o666)
		a, err := Open(ctx, dir+"/mosaic.csv")
		if err == nil { // the type of a tile may be known only when it is read
			_, err = ReadAll(ctx, a)
		}
		if err == nil {
			t.Errorf("no error for %s", name)
		}
	}
	for _, pattern := range []string{"/{row}.png", "/{row}{row}{column}.png", "/{row}_{column}.png", "/*.tiff", "/{x}_{row}.png"} {
		if _, err := Open(ctx, dir+pattern); !errors.Is(err, zarr.ErrFormat) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	vrt := func(inside string) error {
		os.WriteFile(dir+"/m.vrt", []byte(`<VRTDataset rasterXSize="8" rasterYSize="8"><VRTRasterBand dataType="Byte" band="1">`+inside+`</VRTRasterBand></VRTDataset>`), 0o666)
		a, err := Open(ctx, dir+"/m.vrt")
		if err == nil {
			_, err = ReadAll(ctx, a)
		}
		return err
	}
	source := `<SimpleSource><SourceFilename relativeToVRT="1">a.png</SourceFilename>%s</SimpleSource>`
	if err := vrt(fmt.Sprintf(source, "<SourceBand>1</SourceBand>")); err != nil {
		t.Error(err)
	}
	if err := vrt(fmt.Sprintf(source, "<OpenOptions/>")); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{".5": "0.5", "5.e0": "5", "+7": "7", "007": "7", "255.0": "255", "18446744073709551615": "18446744073709551615", "-1.79769313486232e+308": "-1.7976931348623157e+308",
		"-1e309": `"?"`, "nan": `"NaN"`, "-inf": `"-Infinity"`, "1e-3": "0.001", "x": `"?"`, "": `"?"`} {
		if got := string(vrtNumber(text)); got != want {
			t.Errorf("%q is %s", text, got)
		}
	}
	if list, err := parseList([]byte("\ufefffile,x,y\r\na.png,0,0\r\n"), dir); err != nil || len(list.tiles) != 1 {
		t.Errorf("a list that begins with a mark of its encoding: %v", err)
	}
	// A band in another file, which does not match the first.
	os.WriteFile(dir+"/bands.vrt", []byte(`<VRTDataset rasterXSize="8" rasterYSize="8"><VRTRasterBand dataType="Byte" band="1"><SimpleSource><SourceFilename relativeToVRT="1">rgb.png</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand>`+
		`<VRTRasterBand dataType="Byte" band="2"><SimpleSource><SourceFilename relativeToVRT="1">a.png</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>`), 0o666)
	if a, err := Open(ctx, dir+"/bands.vrt"); err != nil {
		t.Error(err)
	} else if _, err := ReadAll(ctx, a); err != nil {
		t.Error(err)
	}
	// Locations in errors and names contain no password.
	secret := `<SimpleSource><SourceFilename>mem://user:secret@x/a</SourceFilename><SourceBand>9</SourceBand></SimpleSource>`
	if b, err := zarr.OpenBucket(ctx, "mem://user:secret@x/a", true); err != nil {
		t.Error(err)
	} else if _, err = zarr.Create(ctx, b, "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{8, 8}, Chunk: []int{8, 8}}); err != nil {
		t.Error(err)
	}
	os.WriteFile(dir+"/secret.csv", []byte("file,row,column\nmem://user:secret@x/a,0,0\nmem://user:secret@x/a,0,0\n"), 0o666)
	_, err := Open(ctx, dir+"/secret.csv")
	for _, err := range []error{vrt(secret), err} {
		if err == nil || strings.Contains(err.Error(), "secret@") {
			t.Errorf("a location is shown as %v", err)
		}
	}
	for _, inside := range []string{
		fmt.Sprintf(source, "<SourceBand>2</SourceBand>"),
		fmt.Sprintf(source, "<SourceBand>mask,1</SourceBand>"),
		fmt.Sprintf(source, `<ScaleRatio>2</ScaleRatio>`),
		fmt.Sprintf(source, `<SrcRect xOff="0" yOff="0" xSize="4" ySize="4"/><DstRect xOff="0" yOff="0" xSize="8" ySize="8"/>`),
		fmt.Sprintf(source, `<SrcRect xOff="0.5" yOff="0" xSize="4" ySize="4"/><DstRect xOff="0" yOff="0" xSize="4" ySize="4"/>`),
		fmt.Sprintf(source, `<SrcRect xOff="5" yOff="0" xSize="4" ySize="4"/><DstRect xOff="0" yOff="0" xSize="4" ySize="4"/>`),
		fmt.Sprintf(source, `<DstRect xOff="0" yOff="0" xSize="8" ySize="8"/>`),
		`<KernelFilteredSource/>`,
		fmt.Sprintf(source, `<OpenOptions><OOI key="OVERVIEW_LEVEL">0</OOI></OpenOptions>`),
		`<NoDataValue>300</NoDataValue>`,
		`<SimpleSource><SourceFilename relativeToVRT="1">m.vrt</SourceFilename></SimpleSource>`,
		`<SimpleSource><SourceFilename relativeToVRT="1">16.png</SourceFilename></SimpleSource>`,
	} {
		if err := vrt(inside); !errors.Is(err, zarr.ErrFormat) {
			t.Errorf("%s: %v", inside, err)
		}
	}
	if err := vrt(`<SimpleSource><SourceFilename relativeToVRT="1">none.tif</SourceFilename></SimpleSource>`); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestOpenNPY reads parts of .npy files of all kinds.
func TestOpenNPY(t *testing.T) {
	dir := t.TempDir()
	for n, h := range []struct {
		descr   string
		fortran bool
		shape   []int
	}{{"|u1", false, []int{1500, 1100}}, {"<u2", true, []int{70, 50}}, {">i4", false, []int{40, 30, 3}}, {">f8", true, []int{5, 30, 20}}, {"|b1", false, []int{7}}, {"<f2", false, []int{2, 3, 4, 5}}, {"<i8", false, []int{}}, {"|i1", false, []int{0, 4}}} {
		size := int(h.descr[2] - '0')
		data := noise(raster.Product(h.shape)*size, uint64(n))
		if h.descr == "|b1" {
			for i := range data {
				data[i] &= 1
			}
		}
		shape := ""
		for _, s := range h.shape {
			shape += fmt.Sprintf("%d,", s)
		}
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", h.descr, map[bool]string{true: "True", false: "False"}[h.fortran], shape)
		file := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header))), header...)
		path := fmt.Sprintf("%s/%d.npy", dir, n)
		os.WriteFile(path, append(file, data...), 0o666)
		want, err := imgio.ReadNPY(bytes.NewReader(append(file, data...)))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		if raster.Product(h.shape) > 0 && len(h.shape) > 0 {
			everything(t, a)
		}
		got, err := ReadAll(ctx, a)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want.Data) {
			t.Errorf("%v: %v", h, err)
		}
		if len(data) > 0 {
			os.WriteFile(path, append(file, data[:len(data)-1]...), 0o666)
			if _, err := Open(ctx, path); err == nil {
				t.Errorf("%v is cut off, and no error", h)
			}
			a.SetCache(zarr.NewCache(0))
			if _, err := ReadAll(ctx, a); err == nil {
				t.Errorf("%v was cut off after it was opened, and no error", h)
			}
		}
	}
}

func FuzzMosaic(f *testing.F) {
	f.Add([]byte(`<VRTDataset rasterXSize="8" rasterYSize="8"><VRTRasterBand dataType="Byte" band="1"><NoDataValue>1</NoDataValue><ComplexSource><SourceFilename relativeToVRT="1">a.png</SourceFilename><SourceBand>1</SourceBand><SrcRect xOff="0" yOff="0" xSize="4" ySize="4"/><DstRect xOff="0" yOff="0" xSize="4" ySize="4"/><NODATA>2</NODATA></ComplexSource></VRTRasterBand></VRTDataset>`))
	f.Add([]byte("file,x,y\na.png,0,0\n"))
	dir := f.TempDir()
	if err := imgio.Save(dir+"/a.png", boxsum.Image[uint8]{Pix: make([]byte, 64), Width: 8, Height: 8, Channels: 1, Stride: 8}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseVRT(data); err == nil {
			for _, band := range m.bands {
				for i := range band { // not in the machine's byte order
					if band[i].File.Name != "a.png" {
						return
					}
					band[i].File.Relative = "1"
				}
			}
			if err := m.resolve(ctx, dir); err == nil {
				if a, err := m.open(ctx); err == nil {
					a.ReadChunk(ctx, raster.Aligned(raster.Product(a.Chunk())*a.Type().Size()), make([]int, len(a.Chunk())))
				}
			}
		}
		if list, err := parseList(data, dir); err == nil {
			for _, tile := range list.tiles {
				if filepath.Base(tile.Location) != "a.png" || filepath.Dir(tile.Location) != dir {
					return
				}
			}
			if a, err := list.open(ctx, outermost()); err == nil {
				a.ReadChunk(ctx, raster.Aligned(raster.Product(a.Chunk())*a.Type().Size()), make([]int, len(a.Chunk())))
			}
		}
	})
}
