package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/threshold"
)

// TestConvert compares the rows with the result of package threshold for the whole image.
func TestConvert(t *testing.T) {
	folder := t.TempDir()
	img := imgio.Demo(333, 200)
	want, err := threshold.BinarizeBits(img, threshold.Rule{Method: threshold.Sauvola, Window: threshold.Square(21), K: 0.2, R: 128}, nil)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(folder, "ink.tiff")
	for name, write := range map[string]func(boxsum.Image[uint8]) []byte{"strips of big-endian TIFF": classic, "one strip of BigTIFF": bigTIFF} {
		from := filepath.Join(folder, "gray.tiff")
		if err := os.WriteFile(from, write(img), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := convert(from, to, 21, 0.2); err != nil {
			t.Fatal(name, err)
		}
		got, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		differ := 0
		for y := range img.Height {
			for x := range img.Width {
				if black := got[16+y*42+x/8]&(0x80>>(x%8)) != 0; black != want.Black(x, y) {
					differ++
				}
			}
		}
		if differ > img.Width*img.Height/1000 { // float32 deviations decide ties differently
			t.Errorf("%s: %d pixels are not those of package threshold", name, differ)
		}
		for cut := range 40 { // damaged files must give errors
			file := write(img)
			file = append(file[:cut*31%len(file)], file[min(len(file), cut*37):]...)
			os.WriteFile(from, file, 0o600)
			convert(from, to, 21, 0.2)
		}
	}
	if convert(filepath.Join(folder, "none"), to, 21, 0.2) == nil {
		t.Error("a file that is not there was read")
	}
}

// classic writes a TIFF in strips of seven rows.
func classic(img boxsum.Image[uint8]) []byte {
	o := binary.BigEndian
	strips := (img.Height + 6) / 7
	file := o.AppendUint32([]byte{'M', 'M', 0, 42}, 8)
	const entries = 8
	list := 8 + 2 + entries*12 + 4
	pixels := list + 4*strips
	file = o.AppendUint16(file, entries)
	for _, e := range [][4]int{{256, 3, 1, img.Width << 16}, {257, 4, 1, img.Height}, {258, 3, 1, 8 << 16}, {259, 3, 1, 1 << 16},
		{262, 3, 1, 1 << 16}, {273, 4, strips, list}, {277, 3, 1, 1 << 16}, {278, 3, 1, 7 << 16}} {
		file = o.AppendUint16(o.AppendUint16(file, uint16(e[0])), uint16(e[1]))
		file = o.AppendUint32(o.AppendUint32(file, uint32(e[2])), uint32(e[3]))
	}
	file = o.AppendUint32(file, 0)
	for s := range strips {
		file = o.AppendUint32(file, uint32(pixels+s*7*img.Width))
	}
	return append(file, img.Pix...)
}

// bigTIFF writes a BigTIFF as one strip, with 0 as white.
func bigTIFF(img boxsum.Image[uint8]) []byte {
	o := binary.LittleEndian
	file := o.AppendUint64([]byte{'I', 'I', 43, 0, 8, 0, 0, 0}, 16)
	const entries = 5
	file = o.AppendUint64(file, entries)
	for _, e := range [][2]int{{256, img.Width}, {257, img.Height}, {258, 8}, {262, 0}, {273, 16 + 8 + entries*20 + 8}} {
		file = o.AppendUint16(o.AppendUint16(file, uint16(e[0])), 16)
		file = o.AppendUint64(o.AppendUint64(file, 1), uint64(e[1]))
	}
	file = o.AppendUint64(file, 0)
	for _, v := range img.Pix {
		file = append(file, 255-v)
	}
	return file
}
