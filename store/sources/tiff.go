package sources

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/image/tiff/lzw"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// OpenTIFF opens the first image of a TIFF or BigTIFF file as an array whose chunks are its
// tiles or strips. Pixels are integers or floats of 8 to 64 bits, raw or compressed with
// LZW, Deflate, PackBits or zstd, with interleaved samples or in planes. Values are
// returned as stored: palettes and color spaces are ignored.
func OpenTIFF(ctx context.Context, path string) (*zarr.Array, error) {
	a, _, err := openTIFF(ctx, path)
	return a, err
}

func openTIFF(ctx context.Context, path string) (*zarr.Array, *tiff, error) {
	from := file(path)
	size, err := from.size()
	if err != nil {
		return nil, nil, err
	}
	t, err := parseTIFF(from, size)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	a, err := newMade(ctx, t.spec(), &made{what: "a TIFF file", list: from.list, chunk: func(_ context.Context, place []int) ([]byte, error) {
		plane := 0
		if t.planes {
			plane = place[2]
		}
		return t.tile(place[0], place[1], plane)
	}})
	return a, t, err
}

// tiff describes where the tiles of a file are and how they are encoded.
type tiff struct {
	file      io.ReaderAt
	size      int64
	order     binary.ByteOrder
	typ       zarr.Type
	height    int
	width     int
	samples   int
	chunk     [2]int // height and width of a tile or strip
	counts    [2]int
	offsets   []uint64
	lengths   []uint64
	packed    uint64 // compression
	predictor uint64
	strips    bool
	planes    bool       // one plane for each sample
	nodata    string     // may be empty
	place     [4]float64 // of a GeoTIFF: x and y of its corner, and the size of a pixel
}

const tiffMost = 1 << 24 // per entry

// tiffTags maps the supported tags to their maximum number of values: one for each sample,
// tile or strip.
var tiffTags = map[uint16]uint64{256: 1, 257: 1, 258: 64, 259: 1, 273: tiffMost, 277: 1, 278: 1, 279: tiffMost, 284: 1, 317: 1, 322: 1, 323: 1,
	324: tiffMost, 325: tiffMost, 339: 64, 33550: 3, 33922: 6, 42113: 256}

// A tiffDirectory describes the numbers of a TIFF directory, which are wider in BigTIFF.
type tiffDirectory struct {
	big    bool
	at     int64 // in the file
	count  int   // bytes of the number of entries
	entry  int   // bytes of an entry
	inline int   // bytes of values that an entry holds itself
}

// parseTIFF parses the first directory (TIFF 6.0; BigTIFF uses 64-bit numbers instead).
func parseTIFF(file io.ReaderAt, size int64) (*tiff, error) {
	t := &tiff{file: file, size: size}
	d, err := t.parseHeader()
	if err != nil {
		return nil, err
	}
	number, err := t.read(d.at, int64(d.count))
	if err != nil {
		return nil, err
	}
	entries := int64(t.order.Uint16(number))
	if d.big {
		entries = int64(t.order.Uint64(number))
	}
	if entries < 1 || entries > 1<<16 {
		return nil, bad("directory has %d entries, want 1 to %d", entries, 1<<16)
	}
	directory, err := t.read(d.at+int64(d.count), entries*int64(d.entry))
	if err != nil {
		return nil, err
	}
	tags := tiffValues{}
	for ; len(directory) > 0; directory = directory[d.entry:] {
		tag, values, err := t.parseEntry(&d, directory)
		if err != nil {
			return nil, err
		}
		if values == nil {
			continue
		}
		if tags[tag] != nil {
			return nil, bad("tag %d appears twice, want once", tag)
		}
		tags[tag] = values
	}
	return t, t.understand(tags)
}

// parseHeader reads the byte order and the place of the first directory.
func (t *tiff) parseHeader() (tiffDirectory, error) {
	var head [16]byte
	if n, err := t.file.ReadAt(head[:], 0); n < 8 {
		return tiffDirectory{}, bad("the file has %d bytes, too few for a TIFF file: %v", n, err)
	}
	switch string(head[:2]) {
	case "II":
		t.order = binary.LittleEndian
	case "MM":
		t.order = binary.BigEndian
	default:
		return tiffDirectory{}, bad("not a TIFF file: it begins with %q, want II or MM", head[:2])
	}
	switch t.order.Uint16(head[2:]) {
	case 42:
		return tiffDirectory{at: int64(t.order.Uint32(head[4:])), count: 2, entry: 12, inline: 4}, nil
	case 43:
		return tiffDirectory{big: true, at: int64(t.order.Uint64(head[8:])), count: 8, entry: 20, inline: 8}, nil
	}
	return tiffDirectory{}, bad("not a TIFF file: its version is %d, want 42 or, for BigTIFF, 43", t.order.Uint16(head[2:]))
}

// parseEntry returns the values of an entry, or nil for tags and types that are not used:
// strings, rationals and others.
func (t *tiff) parseEntry(d *tiffDirectory, entry []byte) (tag uint16, values []uint64, err error) {
	tag, kind := t.order.Uint16(entry), t.order.Uint16(entry[2:])
	width := map[uint16]int{1: 1, 3: 2, 4: 4, 16: 8, 18: 8, 13: 4, 12: 8}[kind]
	n, value := uint64(t.order.Uint32(entry[4:])), entry[8:12]
	if d.big {
		n, value = t.order.Uint64(entry[4:]), entry[12:20]
	}
	if tag == 42113 && kind == 2 {
		width = 1 // GDAL's no-data value, as text
	}
	most, used := tiffTags[tag]
	if width == 0 || !used {
		return tag, nil, nil
	}
	if n > most {
		return tag, nil, bad("tag %d has %d values, want at most %d", tag, n, most)
	}
	if int(n)*width > d.inline {
		from := int64(t.order.Uint32(value))
		if d.big {
			from = int64(t.order.Uint64(value))
		}
		if value, err = t.read(from, int64(n)*int64(width)); err != nil {
			return tag, nil, err
		}
	}
	values = make([]uint64, n)
	for i := range values {
		switch v := value[i*width:]; width {
		case 1:
			values[i] = uint64(v[0])
		case 2:
			values[i] = uint64(t.order.Uint16(v))
		case 4:
			values[i] = uint64(t.order.Uint32(v))
		default:
			values[i] = t.order.Uint64(v)
		}
	}
	return tag, values, nil
}

// tiffValues holds the values of a directory by tag.
type tiffValues map[uint16][]uint64

// one returns the first value of a tag, or another if the directory does not have it.
func (tags tiffValues) one(tag uint16, otherwise uint64) uint64 {
	if list := tags[tag]; len(list) > 0 {
		return list[0]
	}
	return otherwise
}

// size returns the first value of a tag as a number that an int can hold.
func (tags tiffValues) size(tag uint16, otherwise uint64) int {
	return int(min(tags.one(tag, otherwise), 1<<40))
}

// understand interprets the tags.
func (t *tiff) understand(tags tiffValues) error {
	one, size := tags.one, tags.size
	t.width, t.height, t.samples = size(256, 0), size(257, 0), size(277, 1)
	bits, format := one(258, 1), one(339, 1)
	for i, list := range [][]uint64{tags[258], tags[339]} {
		for _, v := range list {
			if v != list[0] {
				return bad("%s of the samples are %v, want the same for all", [...]string{"bits", "formats"}[i], list)
			}
		}
	}
	kinds := map[[2]uint64]zarr.Type{{1, 8}: zarr.Uint8, {1, 16}: zarr.Uint16, {1, 32}: zarr.Uint32, {1, 64}: zarr.Uint64, {2, 8}: zarr.Int8, {2, 16}: zarr.Int16, {2, 32}: zarr.Int32, {2, 64}: zarr.Int64,
		{3, 16}: zarr.Float16, {3, 32}: zarr.Float32, {3, 64}: zarr.Float64}
	t.typ = kinds[[2]uint64{format, bits}]
	t.packed, t.predictor = one(259, 1), one(317, 1)
	switch {
	case t.width < 1 || t.height < 1 || t.samples < 1 || t.samples > 64:
		return bad("image is %d×%d with %d samples per pixel, want at least 1×1 and 1 to 64 samples", t.width, t.height, t.samples)
	case t.typ.Size() == 0:
		return bad("samples have %d bits in format %d, want integers (1 or 2) of 8 to 64 bits or floats (3) of 16 to 64", bits, format)
	case t.predictor != 1 && (t.predictor != 2 || isFloat(t.typ)):
		return bad("predictor is %d for %v, want 1 (none) or, for integers, 2 (differences)", t.predictor, t.typ)
	}
	switch t.packed {
	case 1, 5, 8, 32773, 32946, 50000:
	default:
		return bad("compression is %d, want 1 (none), 5 (LZW), 8 or 32946 (Deflate), 32773 (PackBits) or 50000 (zstd)", t.packed)
	}
	if err := t.cut(tags); err != nil {
		return err
	}
	for _, c := range tags[42113] {
		t.nodata += string(rune(c))
	}
	t.nodata = strings.Trim(t.nodata, "\x00 ")
	if scale, tie := tags[33550], tags[33922]; len(scale) >= 2 && len(tie) >= 6 {
		number := math.Float64frombits
		t.place = [4]float64{number(tie[3]) - number(tie[0])*number(scale[0]), number(tie[4]) + number(tie[1])*number(scale[1]), number(scale[0]), number(scale[1])}
	}
	_, err := zarr.New(nil, "", t.spec())
	return err
}

// cut interprets the tags of tiles or strips.
func (t *tiff) cut(tags tiffValues) error {
	if len(tags[324]) > 0 {
		t.chunk = [2]int{tags.size(323, 0), tags.size(322, 0)}
		t.offsets, t.lengths = tags[324], tags[325]
	} else {
		t.strips = true
		t.chunk = [2]int{int(min(tags.one(278, uint64(t.height)), uint64(t.height))), t.width}
		t.offsets, t.lengths = tags[273], tags[279]
	}
	if t.chunk[0] < 1 || t.chunk[1] < 1 {
		return bad("tile size is %d×%d, want at least 1×1", t.chunk[1], t.chunk[0])
	}
	t.counts = [2]int{raster.CeilDiv(t.height, t.chunk[0]), raster.CeilDiv(t.width, t.chunk[1])}
	planes := 1
	if t.planes = t.samples > 1 && tags.one(284, 1) == 2; t.planes {
		planes = t.samples
	}
	if n := int64(t.counts[0]) * int64(t.counts[1]) * int64(planes); t.counts[0] > tiffMost || t.counts[1] > tiffMost || int64(len(t.offsets)) < n || int64(len(t.lengths)) < n {
		return bad("the file has %d tiles or strips, want %d×%d×%d", min(len(t.offsets), len(t.lengths)), t.counts[0], t.counts[1], planes)
	}
	return nil
}

// spec returns the specification of the array whose chunks are the tiles.
func (t *tiff) spec() *zarr.Spec {
	spec := &zarr.Spec{Type: t.typ, Shape: []int{t.height, t.width}, Chunk: t.chunk[:], Names: []string{"y", "x"}, BigEndian: raster.BigEndian}
	if t.samples > 1 {
		spec.Shape, spec.Chunk, spec.Names = append(spec.Shape, t.samples), append(spec.Chunk[:2:2], t.inTile()), append(spec.Names, "c")
	}
	return spec
}

// inTile returns the number of samples per pixel in a tile.
func (t *tiff) inTile() int {
	if t.planes {
		return 1
	}
	return t.samples
}

func (t *tiff) read(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || n > t.size-at || n > 1<<31 {
		return nil, bad("truncated file: want %d bytes at %d, but it has %d", n, at, t.size)
	}
	data := make([]byte, n)
	if n, err := t.file.ReadAt(data, at); n < len(data) { // the file was truncated after it was opened
		return nil, cutOff(err)
	}
	return data, nil
}

// tile returns the elements of a tile, in this machine's byte order.
func (t *tiff) tile(i, k, plane int) ([]byte, error) {
	n, samples := (plane*t.counts[0]+i)*t.counts[1]+k, t.inTile()
	all := t.chunk[0] * t.chunk[1] * samples * t.typ.Size()
	if t.lengths[n] == 0 { // sparse, as written by GDAL
		out := raster.Aligned(all)
		if t.nodata == "" {
			return out, nil
		}
		fill, err := t.typ.ParseElement(vrtNumber(t.nodata))
		if err != nil {
			return nil, bad("tile %d is missing, and the no-data value %q does not fit in %v", n, t.nodata, t.typ)
		}
		repeat(out, fill)
		return out, nil
	}
	want := all
	if t.strips && i == t.counts[0]-1 {
		want = (t.height - i*t.chunk[0]) * t.chunk[1] * samples * t.typ.Size()
	}
	data, err := t.read(int64(min(t.offsets[n], 1<<62)), int64(min(t.lengths[n], 1<<62)))
	if err != nil {
		return nil, err
	}
	switch t.packed {
	case 5:
		data, err = inflate(lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8), all)
	case 8, 32946:
		var r io.Reader
		if r, err = zlib.NewReader(bytes.NewReader(data)); err == nil {
			data, err = inflate(r, all)
		}
	case 32773:
		data, err = unpackBits(data, all)
	case 50000:
		data, err = zstdDecoder().DecodeAll(data, raster.Aligned(all)[:0:all])
	}
	if err != nil {
		return nil, bad("tile %d: %v", n, err)
	}
	if len(data) < want {
		return nil, bad("tile %d has %d bytes, want %d", n, len(data), want)
	}
	out := raster.Aligned(all)
	copy(out, data[:min(len(data), all)])
	if size := t.typ.Size(); size > 1 && (t.order == binary.BigEndian) != raster.BigEndian {
		raster.SwapBytes(out, out, size)
	}
	if t.predictor == 2 {
		row := t.chunk[1] * samples
		switch t.typ.Size() {
		case 1:
			undo(out, row, samples)
		case 2:
			undo(raster.Elems[uint16](out), row, samples)
		case 4:
			undo(raster.Elems[uint32](out), row, samples)
		default:
			undo(raster.Elems[uint64](out), row, samples)
		}
	}
	return out, nil
}

var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err)
	}
	return d
})

// inflate reads r to its end, up to limit bytes.
func inflate(r io.Reader, limit int) ([]byte, error) {
	buf := raster.Aligned(limit)
	n, err := io.ReadFull(r, buf)
	switch err {
	case nil: // check for the end
		if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 {
			return nil, bad("compressed data expands to more than %d bytes", limit)
		} else if err != io.EOF {
			return nil, err
		}
	case io.ErrUnexpectedEOF: // end of data, or truncated
		if _, err := r.Read(make([]byte, 1)); err != io.EOF {
			return nil, bad("compressed data is truncated")
		}
	case io.EOF:
	default:
		return nil, err
	}
	return buf[:n], nil
}

// undo adds to each element the previous one in its row.
func undo[T uint8 | uint16 | uint32 | uint64](all []T, row, samples int) {
	for ; len(all) >= row; all = all[row:] {
		for x := samples; x < row; x++ {
			all[x] += all[x-samples]
		}
	}
}

// unpackBits decodes PackBits, which consists of literal and repeated runs (TIFF 6.0,
// section 9).
func unpackBits(data []byte, most int) ([]byte, error) {
	out := raster.Aligned(most)[:0]
	for len(data) > 1 && len(out) < most {
		n := int(int8(data[0]))
		switch data = data[1:]; {
		case n >= 0 && n < len(data):
			out, data = append(out, data[:n+1]...), data[n+1:]
		case n >= 0:
			return nil, bad("PackBits data ends in a run of %d bytes", n+1)
		case n > -128:
			for range 1 - n {
				out = append(out, data[0])
			}
			data = data[1:]
		}
	}
	if len(out) > most {
		return nil, bad("PackBits data expands to more than %d bytes", most)
	}
	return out, nil
}
