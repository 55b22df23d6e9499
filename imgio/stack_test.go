package imgio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/google/go-cmp/cmp"
)

// tiffPage describes a page for pagedTIFF.
type tiffPage struct {
	width, height int
	subfile       uint32
	pix           []uint8
}

// pagedTIFF returns a TIFF file of uncompressed gray pages, each followed by its
// directory.
func pagedTIFF(order binary.AppendByteOrder, pages ...tiffPage) []byte {
	file := []byte("II*\x00\x00\x00\x00\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		file = []byte("MM\x00*\x00\x00\x00\x00")
	}
	put := order.(binary.ByteOrder)
	link := 4 // position of the pointer to the next directory
	for _, p := range pages {
		data := len(file)
		file = append(file, p.pix...)
		put.PutUint32(file[link:], uint32(len(file)))
		entries := [][2]uint32{
			{254, p.subfile}, {256, uint32(p.width)}, {257, uint32(p.height)}, {258, 8}, {259, 1}, {262, 1},
			{273, uint32(data)}, {277, 1}, {278, uint32(p.height)}, {279, uint32(len(p.pix))},
		}
		file = order.AppendUint16(file, uint16(len(entries)))
		for _, e := range entries {
			const long = 4
			file = order.AppendUint16(file, uint16(e[0]))
			file = order.AppendUint16(file, long)
			file = order.AppendUint32(file, 1)
			file = order.AppendUint32(file, e[1])
		}
		link = len(file)
		file = append(file, 0, 0, 0, 0)
	}
	return file
}

// someSlices returns random slices of 7×5 pixels, also as pages.
func someSlices(n int) (all [][]uint8, pages []tiffPage) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		pix := make([]uint8, 35)
		for i := range pix {
			pix[i] = uint8(rng.Uint32())
		}
		all, pages = append(all, pix), append(pages, tiffPage{7, 5, 0, pix})
	}
	return all, pages
}

// checkStack compares all slices, in order and out of order.
func checkStack(t *testing.T, s *Stack, err error, want [][]uint8) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if s.Depth != len(want) {
		t.Fatalf("%d slices, want %d", s.Depth, len(want))
	}
	for _, z := range append(rand.Perm(len(want)), 0) {
		img, err := s.Slice(z)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := img.(boxsum.Image[uint8])
		if !ok || got.Width != 7 || got.Height != 5 {
			t.Fatalf("slice %d is %T of %d×%d", z, img, got.Width, got.Height)
		}
		var pix []uint8
		for y := range got.Height {
			pix = append(pix, got.Row(y)...)
		}
		if diff := cmp.Diff(want[z], pix); diff != "" {
			t.Fatalf("slice %d: %s", z, diff)
		}
	}
	for _, z := range []int{-1, len(want)} {
		if _, err := s.Slice(z); err == nil {
			t.Errorf("there is a slice %d", z)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestStackTIFF(t *testing.T) {
	want, pages := someSlices(12)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		file := pagedTIFF(order, pages...)
		s, err := DecodeStack(bytes.NewReader(file), ToGray)
		checkStack(t, s, err, want)
		path := filepath.Join(t.TempDir(), "stack.tif")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err = OpenStack(path, Keep)
		checkStack(t, s, err, want)
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, file) {
			t.Errorf("the file has changed: %v", err)
		}
	}
	// Add a thumbnail and a mask.
	small := tiffPage{2, 2, 1, []uint8{1, 2, 3, 4}}
	mask := tiffPage{7, 5, 4, make([]uint8, 35)}
	s, err := DecodeStack(bytes.NewReader(pagedTIFF(binary.LittleEndian, slices.Concat([]tiffPage{small}, pages[:1], []tiffPage{mask}, pages[1:])...)), ToGray)
	checkStack(t, s, err, want)
	// Large files are mapped.
	large := pagedTIFF(binary.LittleEndian, append([]tiffPage{{1024, 1024, 1, make([]uint8, 1<<20)}}, pages...)...)
	path := filepath.Join(t.TempDir(), "large.tif")
	if err := os.WriteFile(path, large, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = OpenStack(path, ToGray)
	checkStack(t, s, err, want)
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, large) {
		t.Errorf("the mapped file has changed: %v", err)
	}
}

func TestStackFolder(t *testing.T) {
	want, _ := someSlices(12)
	folder := t.TempDir()
	for z, pix := range want {
		var file bytes.Buffer
		if err := png.Encode(&file, &image.Gray{Pix: pix, Stride: 7, Rect: image.Rect(0, 0, 7, 5)}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("slice%d.png", z)), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{"notes.txt", ".hidden.png", "README"} {
		if err := os.WriteFile(filepath.Join(folder, other), []byte("not a picture"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "folder.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := OpenStack(folder, ToGray)
	checkStack(t, s, err, want)

	// A slice of another size gives an error that names it, once it is read.
	odd := filepath.Join(folder, "slice12.pgm")
	if err := os.WriteFile(odd, []byte("P5 1 1 255\nx"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenStack(folder, ToGray); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Slice(12); err == nil || !strings.Contains(err.Error(), "slice12.pgm has 1×1 pixels of uint8, the first has 7×5") {
		t.Error(err)
	}
	// So does a file with several pages.
	_, pages := someSlices(2)
	if err := os.WriteFile(odd, pagedTIFF(binary.LittleEndian, pages...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Slice(12); err == nil || !strings.Contains(err.Error(), "2 pages") {
		t.Error(err)
	}
	// Arrays can be slices, too.
	var array bytes.Buffer
	if err := WriteNPY(&array, []int{5, 7}, one(want[3])); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(odd, array.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = OpenStack(folder, ToGray)
	checkStack(t, s, err, append(want, want[3]))
}

func TestStackArray(t *testing.T) {
	want, _ := someSlices(3)
	var file bytes.Buffer
	if err := WriteNPY(&file, []int{3, 5, 7}, one(slices.Concat(want...))); err != nil {
		t.Fatal(err)
	}
	s, err := DecodeStack(bytes.NewReader(file.Bytes()), ToGray)
	checkStack(t, s, err, want)
	if whole, ok := s.Whole.(boxsum.Image[uint8]); !ok || whole.Height != 15 || whole.Width != 7 {
		t.Errorf("the whole is %T", s.Whole)
	}
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = OpenStack(path, ToGray)
	checkStack(t, s, err, want)
}

// TestStackSwapped reads large arrays in the other byte order slice by slice, and
// small ones at once.
func TestStackSwapped(t *testing.T) {
	other := ">"
	if !hostIsLittle {
		other = "<"
	}
	for _, shape := range [][]int{{5, 400, 300}, {3, 100, 300, 7}, {2, 3, 4}} {
		count, err := elementCount(shape)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]uint16, count)
		for i := range want {
			want[i] = uint16(i*40503 + i>>3)
		}
		swapped := bytes.Clone(bytesOf(want))
		swapBytes(swapped, 2)
		path := filepath.Join(t.TempDir(), "swapped.npy")
		dict := fmt.Sprintf("{'descr': '%su2', 'fortran_order': False, 'shape': %s, }", other, shapeString(shape))
		if err := os.WriteFile(path, rawNPY(1, dict, swapped), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStack(path, ToGray)
		if err != nil {
			t.Fatal(err)
		}
		if large := count*2 >= mapBytes; runtime.GOOS == "linux" && (s.Whole == nil) != large {
			t.Errorf("%v: the whole is %T", shape, s.Whole)
		}
		for z := range shape[0] {
			img, err := s.Slice(z)
			if err != nil {
				t.Fatal(err)
			}
			each := count / shape[0]
			if got := img.(boxsum.Image[uint16]); !slices.Equal(got.Pix, want[z*each:][:each]) || got.Height != shape[1] {
				t.Errorf("%v: slice %d differs", shape, z)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNatural(t *testing.T) {
	names := []string{"a", "a0", "a01", "a1", "a2", "a10", "a10b2", "a10b10", "a99999999999999999998", "a99999999999999999999", "b", "img-1", "img-2", "img-10"}
	shuffled := slices.Clone(names)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(names), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, compareNatural)
	if !slices.Equal(names, shuffled) {
		t.Errorf("sorted as %q", shuffled)
	}
	for _, a := range names {
		for _, b := range names {
			if compareNatural(a, b) != -compareNatural(b, a) || (compareNatural(a, b) == 0) != (a == b) {
				t.Errorf("%q and %q are not in order", a, b)
			}
		}
	}
}

func TestStackErrors(t *testing.T) {
	_, pages := someSlices(3)
	good := pagedTIFF(binary.LittleEndian, pages...)
	loop := slices.Clone(good)
	binary.LittleEndian.PutUint32(loop[len(loop)-4:], binary.LittleEndian.Uint32(loop[4:])) // the last directory points to the first
	array := func(shape []int, elements int) []byte {
		dict := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", shapeString(shape))
		return rawNPY(1, dict, make([]byte, elements))
	}
	for name, test := range map[string]struct {
		file []byte
		says string
	}{
		"empty":              {nil, "empty"},
		"one picture":        {[]byte("P5 1 1 255\nx"), "one picture, not a volume"},
		"cut in the header":  {good[:6], "truncated"},
		"no directory":       {good[:8], "truncated"},
		"cut in a directory": {good[:len(good)-10], "truncated"},
		"a loop":             {loop, "repeat earlier ones"},
		"no pages":           {pagedTIFF(binary.LittleEndian), "no pages"},
		"only thumbnails":    {pagedTIFF(binary.LittleEndian, tiffPage{2, 2, 1, make([]uint8, 4)}), "no pages"},
		"rank 2":             {array([]int{2, 3}, 6), "(2, 3) is not a volume, want (D, H, W) or (D, H, W, C)"},
		"rank 5":             {array([]int{1, 1, 1, 1, 1}, 1), "not a volume"},
		"no voxels":          {array([]int{2, 0, 3}, 0), "has no voxels"},
		"negative":           {rawNPY(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, -3, 2), }", make([]byte, 12)), "negative"},
		"overflowing":        {array([]int{math.MaxInt, math.MaxInt, math.MaxInt}, 10), "does not fit in an int"},
		"too large":          {rawNPY(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999, 3, 2), }", make([]byte, 12)), "too large"},
		"array cut short":    {array([]int{2, 3, 4}, 23), "truncated"},
	} {
		s, err := DecodeStack(bytes.NewReader(test.file), ToGray)
		if err == nil || s != nil || !strings.Contains(err.Error(), test.says) || strings.HasPrefix(err.Error(), "imgio: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenStack(t.TempDir(), ToGray); err == nil || !strings.Contains(err.Error(), "no pictures") {
		t.Error(err)
	}
	if _, err := OpenStack(filepath.Join(t.TempDir(), "missing"), ToGray); err == nil {
		t.Error("a missing folder is a volume")
	}
	// The error for a page that does not match the first names the file.
	path := filepath.Join(t.TempDir(), "pages.tiff")
	if err := os.WriteFile(path, pagedTIFF(binary.LittleEndian, pages[0], tiffPage{3, 2, 0, make([]uint8, 6)}), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := OpenStack(path, ToGray)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Slice(1); err == nil || err.Error() != path+": all slices of a volume must have the same size and type: page 2 has 3×2 pixels of uint8, the first has 7×5 pixels of uint8" {
		t.Error(err)
	}
	// The error for a page whose pixels are cut off names the page.
	s, err := DecodeStack(bytes.NewReader(pagedTIFF(binary.LittleEndian, pages[0], tiffPage{7, 500, 0, make([]uint8, 35)})), ToGray)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Slice(1); err == nil || !strings.Contains(err.Error(), "page 2") {
		t.Error(err)
	}
}

// FuzzStack reads arbitrary bytes as a volume. The result must be a volume of
// consistent slices, or an error.
func FuzzStack(f *testing.F) {
	pixelLimit = 1 << 12
	defer func() { pixelLimit = MaxPixels }()
	_, pages := someSlices(3)
	f.Add(pagedTIFF(binary.LittleEndian, pages...))
	f.Add(pagedTIFF(binary.BigEndian, pages...))
	for name, file := range samples(f) {
		if strings.HasPrefix(name, "tiff") || strings.HasPrefix(name, "npy") {
			f.Add(file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := DecodeStack(bytes.NewReader(file), Keep)
		if err != nil {
			return
		}
		for z := range min(s.Depth, 4) {
			img, err := s.Slice(z)
			if err == nil && sliceOf(img) != s.shape {
				t.Errorf("slice %d is %v, the first is %v", z, sliceOf(img), s.shape)
			}
		}
	})
}
