package sources

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// A Tile is one image of a mosaic and its position.
type Tile struct {
	// Location is the path or URL of a TIFF, .npy or picture file, or of a Zarr array, as for
	// [Open].
	Location string
	// X and Y are the position of the tile's first pixel in the mosaic.
	X, Y int
}

// OpenMosaic opens many images as one array. Reading a part of the array reads only the
// parts of images that it needs. Tiles must have the same type and number of channels.
// Where tiles overlap, later ones cover earlier ones; pixels that no tile covers are 0.
// [Open] also opens mosaics given by a list, by a pattern of file names or by GDAL's
// virtual files.
func OpenMosaic(ctx context.Context, tiles []Tile) (*zarr.Array, error) {
	return openTiles(ctx, tiles, outermost())
}

// A nest describes the mosaics that contain an array.
type nest struct {
	depth int
	left  *int // number of tiles and positions that all of them may still add
}

// overhead estimates the memory of a cache entry in addition to its bytes.
const overhead = 200

const (
	deepest   = 4       // nesting limit, which stops a mosaic that contains itself
	mostTiles = 1 << 21 // limit for tiles and positions together, usually one position per tile
)

func outermost() nest {
	left := mostTiles
	return nest{0, &left}
}

func (n nest) spend(tiles int) error {
	if n.left == nil {
		return nil
	}
	if *n.left -= tiles; *n.left < 0 {
		return bad("the mosaic has too many tiles, want at most %d including those of nested mosaics", mostTiles/2)
	}
	return nil
}

// A mosaic combines many arrays into one.
type mosaic struct {
	typ                     zarr.Type
	width, height, channels int
	fill                    json.RawMessage // of pixels without a tile; nil means 0
	pieces                  []piece
	tiles                   []*zarr.Array
	names                   []string // of the tiles
	chunk                   [2]int
	step                    int              // height and width of a cell, in chunks
	cells                   map[[2]int][]int // pieces by cell
	in                      nest
}

// A piece is the part of a tile that appears in a mosaic.
type piece struct {
	tile     int
	src      image.Point     // in the tile
	dst      image.Rectangle // in the mosaic
	from, to int             // channels of the tile and of the mosaic; -1 means all
	without  []byte          // element that marks missing pixels, or nil
}

// add opens a tile. like is a tile that it must match, or nil.
func (m *mosaic) add(ctx context.Context, location string, like *zarr.Array) (int, error) {
	if err := m.in.spend(1); err != nil {
		return 0, err
	}
	a, err := open(ctx, location, like, nest{m.in.depth + 1, m.in.left})
	if err != nil {
		return 0, err
	}
	m.tiles, m.names = append(m.tiles, a), append(m.names, zarr.Redacted(location))
	if n := len(a.Shape()); n != 2 && n != 3 || slices.Contains(a.Shape(), 0) {
		return 0, bad("tile %s has shape %v, want (H, W) or (H, W, C)", zarr.Redacted(location), a.Shape())
	}
	return len(m.tiles) - 1, nil
}

func (m *mosaic) close() error {
	var first error
	for _, a := range m.tiles {
		if err := a.Close(); first == nil {
			first = err
		}
	}
	return first
}

func openTiles(ctx context.Context, tiles []Tile, in nest) (*zarr.Array, error) {
	m := &mosaic{in: in}
	if err := m.addAll(ctx, tiles); err != nil {
		return nil, err
	}
	return m.place(ctx, tiles)
}

// addAll opens tiles, which must match the first. It closes them if one fails.
func (m *mosaic) addAll(ctx context.Context, tiles []Tile) error {
	var like *zarr.Array
	for _, t := range tiles {
		if _, err := m.add(ctx, t.Location, like); err != nil {
			m.close()
			return err
		}
		like = m.tiles[0]
	}
	return nil
}

// place returns the array of open tiles. It closes them on error.
func (m *mosaic) place(ctx context.Context, tiles []Tile) (*zarr.Array, error) {
	for i, t := range tiles {
		if t.X < 0 || t.Y < 0 || t.X > math.MaxInt32 || t.Y > math.MaxInt32 {
			m.close()
			return nil, bad("tile %s is at %d,%d, want coordinates from 0 to %d", m.names[i], t.X, t.Y, math.MaxInt32)
		}
		shape := m.tiles[i].Shape()
		m.pieces = append(m.pieces, piece{tile: i, dst: image.Rect(0, 0, shape[1], shape[0]).Add(image.Pt(t.X, t.Y)), from: -1, to: -1})
		m.width, m.height = max(m.width, t.X+shape[1]), max(m.height, t.Y+shape[0])
	}
	if len(tiles) == 0 {
		return nil, bad("mosaic has no tiles, want at least one")
	}
	m.typ, m.channels = m.tiles[0].Type(), raster.Product(m.tiles[0].Shape()[2:])
	return m.open(ctx)
}

// open checks the pieces and returns the array. It closes the tiles on error.
func (m *mosaic) open(ctx context.Context) (*zarr.Array, error) {
	a, err := m.array(ctx)
	if err != nil {
		m.close()
	}
	return raster.OrNil(a, err)
}

func (m *mosaic) array(ctx context.Context) (*zarr.Array, error) {
	for _, p := range m.pieces {
		a := m.tiles[p.tile]
		channels := raster.Product(a.Shape()[2:])
		if a.Type() != m.typ {
			return nil, bad("tile %s has elements of %v, want %v like the mosaic", m.names[p.tile], a.Type(), m.typ)
		}
		if p.to < 0 && channels != m.channels {
			return nil, bad("tile %s has %d channels, want %d like the mosaic", m.names[p.tile], channels, m.channels)
		}
		if p.from >= channels {
			return nil, bad("tile %s has %d channels, want at least %d", m.names[p.tile], channels, p.from+1)
		}
	}
	if err := m.in.spend(len(m.pieces)); err != nil {
		return nil, err
	}
	m.chunk = m.chunks()
	m.index()
	spec := &zarr.Spec{Type: m.typ, Shape: []int{m.height, m.width}, Chunk: m.chunk[:], Names: []string{"y", "x"}, BigEndian: raster.BigEndian}
	if m.fill != nil {
		spec.Fill = m.fill
	}
	if m.channels > 1 {
		spec.Shape, spec.Chunk, spec.Names = append(spec.Shape, m.channels), append(spec.Chunk[:2:2], m.channels), append(spec.Names, "c")
	}
	var fill []byte
	a, err := newMade(ctx, spec, &made{what: "a mosaic", parts: m.tiles, names: m.names, list: m.list, closing: m.close, chunk: func(ctx context.Context, place []int) ([]byte, error) {
		return m.read(ctx, place, fill)
	}})
	if err != nil {
		return nil, err
	}
	fill = a.Fill()
	a.SetCache(zarr.NewCache(max(256<<20, a.Footprint()+overhead)))
	return a, nil
}

// index lists the pieces of each cell. A cell is a chunk, or many chunks if tiles are
// large, so that there are about as many entries as pieces.
func (m *mosaic) index() {
	span := func(p *piece) image.Rectangle { // in cells
		h, w := m.chunk[0]*m.step, m.chunk[1]*m.step
		return image.Rect(p.dst.Min.X/w, p.dst.Min.Y/h, (p.dst.Max.X-1)/w+1, (p.dst.Max.Y-1)/h+1)
	}
	for m.step = 1; ; m.step *= 2 {
		entries := int64(0)
		for n := range m.pieces {
			r := span(&m.pieces[n])
			entries += int64(r.Dx()) * int64(r.Dy())
		}
		if entries <= max(1<<12, 4*int64(len(m.pieces))) {
			break
		}
	}
	m.cells = map[[2]int][]int{}
	for n := range m.pieces {
		r := span(&m.pieces[n])
		for i := r.Min.Y; i < r.Max.Y; i++ {
			for k := r.Min.X; k < r.Max.X; k++ {
				m.cells[[2]int{i, k}] = append(m.cells[[2]int{i, k}], n)
			}
		}
	}
}

// chunks returns the shape of the mosaic's chunks: that of its tiles if they lie on a grid,
// so that each is read once.
func (m *mosaic) chunks() [2]int {
	w, h := 0, 0
	for _, p := range m.pieces {
		w, h = max(w, p.dst.Dx()), max(h, p.dst.Dy())
	}
	regular := w > 0 && h > 0 && w <= 4096 && h <= 4096
	for _, p := range m.pieces {
		d := p.dst
		regular = regular && d.Min.X%w == 0 && d.Min.Y%h == 0 && (d.Dx() == w || d.Max.X == m.width) && (d.Dy() == h || d.Max.Y == m.height)
	}
	if regular {
		return [2]int{h, w}
	}
	return [2]int{1024, 1024}
}

// list lists the objects of all tiles.
func (m *mosaic) list(ctx context.Context, visit func(zarr.Object) error) error {
	for i, a := range m.tiles {
		err := a.List(ctx, func(o zarr.Object) error {
			o.Key = fmt.Sprintf("tile %d %s/%s", i, m.names[i], o.Key)
			return visit(o)
		})
		if errors.Is(err, errors.ErrUnsupported) { // web servers do not list objects
			err = visit(zarr.Object{Key: fmt.Sprintf("tile %d %s %s", i, m.names[i], a.Metadata())})
		}
		if err != nil {
			return err
		}
	}
	for _, p := range m.pieces { // a manifest may move them
		if err := visit(zarr.Object{Key: fmt.Sprint("piece ", p)}); err != nil {
			return err
		}
	}
	return nil
}

// read returns a chunk, or nil if it has no tiles.
func (m *mosaic) read(ctx context.Context, place []int, fill []byte) ([]byte, error) {
	size := m.typ.Size()
	corner := image.Pt(place[1]*m.chunk[1], place[0]*m.chunk[0])
	cell := image.Rectangle{corner, corner.Add(image.Pt(m.chunk[1], m.chunk[0]))}
	var pieces []int
	for _, n := range m.cells[[2]int{place[0] / m.step, place[1] / m.step}] {
		if m.pieces[n].dst.Overlaps(cell) {
			pieces = append(pieces, n)
		}
	}
	if len(pieces) == 0 {
		return nil, nil
	}
	dst := raster.Aligned(m.chunk[0] * m.chunk[1] * m.channels * size)
	repeat(dst, fill)
	var part []byte
	for _, n := range pieces {
		p := &m.pieces[n]
		a := m.tiles[p.tile]
		in := p.dst.Intersect(cell)
		from, to := in.Min.Sub(p.dst.Min).Add(p.src), in.Min.Sub(corner)
		at, box := []int{from.Y, from.X, 0}, []int{in.Dy(), in.Dx(), 1}
		at, box = at[:len(a.Shape())], box[:len(a.Shape())]
		channels := raster.Product(a.Shape()[2:])
		if len(box) == 3 {
			box[2] = channels
		}
		part = raster.Reuse(part, raster.Product(box)*size)
		if err := a.ReadBytes(ctx, part, at, box); err != nil {
			return nil, fmt.Errorf("tile %s: %w", m.names[p.tile], err)
		}
		if p.to < 0 && p.without == nil {
			row := in.Dx() * channels * size
			for y := range in.Dy() {
				copy(dst[((to.Y+y)*m.chunk[1]+to.X)*channels*size:], part[y*row:(y+1)*row])
			}
			continue
		}
		p.lay(dst, part, m.typ, in.Size(), to, m.chunk[1], m.channels, channels)
	}
	return dst, nil
}

// lay copies the valid elements of one channel or of all.
func (p *piece) lay(dst, part []byte, typ zarr.Type, box, to image.Point, stride, dstChannels, srcChannels int) {
	size := typ.Size()
	nan := p.without != nil && isNaN(typ, p.without)
	first, last := max(p.from, 0), p.from+1
	if p.from < 0 {
		last = srcChannels
	}
	for y := range box.Y {
		for x := range box.X {
			src := part[(y*box.X+x)*srcChannels*size:]
			out := dst[((to.Y+y)*stride+to.X+x)*dstChannels*size:]
			for c := first; c < last; c++ {
				v, at := src[c*size:(c+1)*size], c
				if p.to >= 0 {
					at = p.to
				}
				if p.without == nil || !bytes.Equal(v, p.without) && !(nan && isNaN(typ, v)) {
					copy(out[at*size:], v)
				}
			}
		}
	}
}

func isNaN(typ zarr.Type, element []byte) bool {
	aligned := append(raster.Aligned(8)[:0], element...)
	switch typ {
	case zarr.Float16:
		f := zarr.FromFloat16(raster.Elems[uint16](aligned)[0])
		return f != f
	case zarr.Float32:
		f := raster.Elems[float32](aligned)[0]
		return f != f
	case zarr.Float64:
		f := raster.Elems[float64](aligned)[0]
		return f != f
	}
	return false
}
