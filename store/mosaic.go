package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/grid"
)

// A Tile is one image of a mosaic.
type Tile struct {
	// Location is that of a TIFF, .npy or picture file, or of a Zarr array, see [OpenArray].
	Location string
	// X and Y are where its first pixel is in the mosaic.
	X, Y int
}

// OpenMosaic opens many images as one array: it reads of each what is asked for. Tiles have the same type and channels. Where they overlap, those
// that come later are seen; where there are none, pixels are 0. [OpenArray] opens mosaics by a list, by the names of tiles and by GDAL's virtual files.
func OpenMosaic(ctx context.Context, tiles []Tile) (*Array, error) {
	return openTiles(ctx, tiles, outermost())
}

// A nest is the mosaics that an array is part of.
type nest struct {
	depth int
	left  *int // how many tiles and places of tiles all of them may still have
}

const (
	deepest   = 4       // a mosaic that is part of itself has no end
	mostTiles = 1 << 21 // with their places, which are as many
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
		return bad("a mosaic, with those in it, of more than %d tiles", mostTiles/2)
	}
	return nil
}

// A mosaic is many arrays as one.
type mosaic struct {
	typ                     Type
	width, height, channels int
	fill                    json.RawMessage // of pixels that no tile has, or nil for 0
	pieces                  []piece
	tiles                   []*Array
	names                   []string // of the tiles
	chunk                   [2]int
	step                    int              // how many chunks a cell is high and wide
	cells                   map[[2]int][]int // pieces of each cell that has any
	in                      nest
}

// A piece is the part of a tile that is in a mosaic.
type piece struct {
	tile     int
	src      image.Point     // in the tile
	dst      image.Rectangle // in the mosaic
	from, to int             // channel of the tile and of the mosaic; -1 for all
	without  []byte          // element that stands for no pixel, or nil
}

// add opens a tile. Like is one that it should be as, or nil.
func (m *mosaic) add(ctx context.Context, location string, like *Array) (int, error) {
	if err := m.in.spend(1); err != nil {
		return 0, err
	}
	a, err := openArray(ctx, location, like, nest{m.in.depth + 1, m.in.left})
	if err != nil {
		return 0, err
	}
	m.tiles, m.names = append(m.tiles, a), append(m.names, Redacted(location))
	if n := len(a.m.shape); n != 2 && n != 3 || slices.Contains(a.m.shape, 0) {
		return 0, bad("tile %s of shape %v is no image: that has (H, W) or (H, W, C)", Redacted(location), a.m.shape)
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

func openTiles(ctx context.Context, tiles []Tile, in nest) (*Array, error) {
	m := &mosaic{in: in}
	if err := m.addAll(ctx, tiles); err != nil {
		return nil, err
	}
	return m.place(ctx, tiles)
}

// addAll opens tiles, which are all like the first. It closes them if one fails.
func (m *mosaic) addAll(ctx context.Context, tiles []Tile) error {
	var like *Array
	for _, t := range tiles {
		if _, err := m.add(ctx, t.Location, like); err != nil {
			m.close()
			return err
		}
		like = m.tiles[0]
	}
	return nil
}

// place makes the array of tiles that are open. It closes them if it fails.
func (m *mosaic) place(ctx context.Context, tiles []Tile) (*Array, error) {
	for i, t := range tiles {
		if t.X < 0 || t.Y < 0 || t.X > math.MaxInt32 || t.Y > math.MaxInt32 {
			m.close()
			return nil, bad("tile %s at %d,%d lies outside of the mosaic", m.names[i], t.X, t.Y)
		}
		shape := m.tiles[i].m.shape
		m.pieces = append(m.pieces, piece{tile: i, dst: image.Rect(0, 0, shape[1], shape[0]).Add(image.Pt(t.X, t.Y)), from: -1, to: -1})
		m.width, m.height = max(m.width, t.X+shape[1]), max(m.height, t.Y+shape[0])
	}
	if len(tiles) == 0 {
		return nil, bad("a mosaic without tiles")
	}
	m.typ, m.channels = m.tiles[0].m.typ, product(m.tiles[0].m.shape[2:])
	return m.open(ctx)
}

// open checks the pieces and makes the array. It closes the tiles if it fails.
func (m *mosaic) open(ctx context.Context) (*Array, error) {
	a, err := m.array(ctx)
	if err != nil {
		m.close()
	}
	return grid.OrNil(a, err)
}

func (m *mosaic) array(ctx context.Context) (*Array, error) {
	for _, p := range m.pieces {
		a := m.tiles[p.tile]
		channels := product(a.m.shape[2:])
		if a.m.typ != m.typ {
			return nil, bad("tile %s has elements of %v, and the mosaic of %v", m.names[p.tile], a.m.typ, m.typ)
		}
		if p.to < 0 && channels != m.channels || p.from >= channels {
			return nil, bad("tile %s has %d channels, and the mosaic takes others", m.names[p.tile], channels)
		}
	}
	if err := m.in.spend(len(m.pieces)); err != nil {
		return nil, err
	}
	m.chunk = m.chunks()
	m.index()
	spec := &Spec{Type: m.typ, Shape: []int{m.height, m.width}, Chunk: m.chunk[:], Names: []string{"y", "x"}, BigEndian: bigHost}
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
	fill = a.m.fill
	a.keepUpTo(max(256<<20, a.largest()+overhead))
	return a, nil
}

// index finds the pieces of cells, which are chunks, or many where tiles are large: it has about as many entries as there are pieces.
func (m *mosaic) index() {
	span := func(p *piece) image.Rectangle { // of cells
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

// chunks is the size of the mosaic's chunks: that of its tiles where they lie on a grid, so that each is read once.
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

// list has the objects of all tiles.
func (m *mosaic) list(ctx context.Context, visit func(Object) error) error {
	for i, a := range m.tiles {
		err := a.bucket.List(ctx, a.path, func(o Object) error {
			o.Key = fmt.Sprintf("tile %d %s/%s", i, m.names[i], o.Key)
			return visit(o)
		})
		if errors.Is(err, errors.ErrUnsupported) { // a web server tells nothing
			err = visit(Object{Key: fmt.Sprintf("tile %d %s %s", i, m.names[i], a.m.json())})
		}
		if err != nil {
			return err
		}
	}
	for _, p := range m.pieces { // a manifest may move them
		if err := visit(Object{Key: fmt.Sprint("piece ", p)}); err != nil {
			return err
		}
	}
	return nil
}

// read makes a chunk, or nil where there are no tiles.
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
	dst := aligned(m.chunk[0] * m.chunk[1] * m.channels * size)
	fillBytes(dst, fill)
	var part []byte
	for _, n := range pieces {
		p := &m.pieces[n]
		a := m.tiles[p.tile]
		in := p.dst.Intersect(cell)
		from, to := in.Min.Sub(p.dst.Min).Add(p.src), in.Min.Sub(corner)
		at, box := []int{from.Y, from.X, 0}, []int{in.Dy(), in.Dx(), 1}
		at, box = at[:len(a.m.shape)], box[:len(a.m.shape)]
		channels := product(a.m.shape[2:])
		if len(box) == 3 {
			box[2] = channels
		}
		part = room(part, product(box)*size)
		if err := a.readBytes(ctx, part, at, box, true); err != nil {
			return nil, fmt.Errorf("store: tile %s: %w", m.names[p.tile], err)
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

// lay copies those elements that are pixels, of one channel or of all.
func (p *piece) lay(dst, part []byte, typ Type, box, to image.Point, stride, dstChannels, srcChannels int) {
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

func isNaN(typ Type, element []byte) bool {
	aligned := append(aligned(8)[:0], element...)
	switch typ {
	case Float16:
		f := halfToFloat(elementsOf[uint16](aligned)[0])
		return f != f
	case Float32:
		f := elementsOf[float32](aligned)[0]
		return f != f
	case Float64:
		f := elementsOf[float64](aligned)[0]
		return f != f
	}
	return false
}

// isPattern reports whether a location stands for many files: it has {row} and {column}, or {x} and {y}, or a * for TIFF files that say where they are.
func isPattern(location string) bool {
	if strings.Contains(location, "://") || !patternOf(location).stands() {
		return false
	}
	_, err := os.Lstat(location) // a file may have such a name
	return err != nil
}

// IsMosaic reports whether [OpenArray] takes a location for many images: a list (.csv), a virtual file of GDAL (.vrt), or the names of tiles.
func IsMosaic(location string) bool {
	if isPattern(location) {
		return true
	}
	switch strings.ToLower(filepath.Ext(location)) {
	case ".vrt", ".csv":
		return !strings.Contains(location, "://")
	}
	return false
}

// openPattern opens the files whose names fit a pattern.
func openPattern(ctx context.Context, pattern string, in nest) (*Array, error) {
	pattern = filepath.Clean(pattern)
	names, seen := patternOf(pattern), map[string]bool{}
	for _, part := range names {
		switch {
		case part.place == "" || part.place == "*":
		case seen[part.place]:
			return nil, bad("pattern %s: it has {%s} twice", pattern, part.place)
		default:
			seen[part.place] = true
		}
	}
	found, err := fitting(pattern)
	if err != nil {
		return nil, err
	}
	list := placed{byGrid: seen["row"] || seen["column"]}
	for _, path := range found {
		texts, ok := names.fit(path)
		if !ok {
			continue
		}
		var at [2]int
		for i, part := range names {
			axis, ok := map[string]int{"x": 0, "column": 0, "y": 1, "row": 1}[part.place]
			if !ok {
				continue
			}
			if at[axis], err = strconv.Atoi(texts[i]); err != nil || at[axis] > math.MaxInt32 {
				return nil, bad("%s: %s is no place", path, texts[i])
			}
		}
		list.tiles = append(list.tiles, Tile{path, at[0], at[1]})
	}
	switch {
	case len(list.tiles) == 0:
		return nil, bad("no file fits %s", pattern)
	case len(seen) == 0:
		paths := make([]string, len(list.tiles))
		for i, t := range list.tiles {
			paths[i] = t.Location
		}
		tiles, err := PlaceTIFFs(ctx, paths)
		if err != nil {
			return nil, err
		}
		return openTiles(ctx, tiles, in)
	case !(seen["row"] && seen["column"] && len(seen) == 2 || seen["x"] && seen["y"] && len(seen) == 2):
		return nil, bad("pattern %s: places have {row} and {column}, or {x} and {y}", pattern)
	}
	return list.open(ctx, in)
}

// A namePattern is paths, part by part.
type namePattern []namePart

// A namePart is a text as it is, or a place, a number, or * for anything in the name of a file.
type namePart struct{ text, place string }

// patternOf finds what stands for something in a pattern, or in a part of it.
func patternOf(pattern string) (p namePattern) {
	last := 0
	for i := range len(pattern) {
		for _, of := range [...]namePart{{"*", "*"}, {"{row}", "row"}, {"{col}", "column"}, {"{column}", "column"}, {"{x}", "x"}, {"{y}", "y"}} {
			if strings.HasPrefix(pattern[i:], of.text) {
				p = append(p, namePart{text: pattern[last:i]}, of)
				last = i + len(of.text)
			}
		}
	}
	return append(p, namePart{text: pattern[last:]})
}

// stands reports whether a pattern stands for other names than its own.
func (p namePattern) stands() bool { return len(p) > 1 }

// fit is the text of each part in a name, and whether it has them all.
func (p namePattern) fit(name string) (texts []string, ok bool) {
	texts = make([]string, len(p))
	return texts, p.fitRest(name, texts, map[[2]int]bool{})
}

// fitRest gives every part as much as it can, the first parts most. It keeps in mind what does not fit, as it comes there again and again.
func (p namePattern) fitRest(name string, texts []string, not map[[2]int]bool) bool {
	at := [2]int{len(p), len(name)}
	if len(p) == 0 || not[at] {
		return len(p) == 0 && name == ""
	}
	least, most := p[0].lengths(name)
	for n := most; n >= least; n-- {
		if p[1:].fitRest(name[n:], texts[1:], not) {
			texts[0] = name[:n]
			return true
		}
	}
	not[at] = true
	return false
}

// lengths is of what a part can be at the start of a name, from least to most, which is less where it is not there.
func (p namePart) lengths(name string) (least, most int) {
	switch p.place {
	case "":
		if !strings.HasPrefix(name, p.text) {
			return 1, 0
		}
		return len(p.text), len(p.text)
	case "*":
		return 0, len(name) - len(strings.TrimLeftFunc(name, func(r rune) bool { return r != '/' && r != '\\' }))
	}
	return 1, len(name) - len(strings.TrimLeft(name, "0123456789"))
}

// fitting is the paths that a clean pattern stands for, sorted. It reads folders: in their names, only the parts of a pattern mean something.
func fitting(pattern string) ([]string, error) {
	volume := filepath.VolumeName(pattern)
	found := []string{volume}
	for i, part := range strings.Split(pattern[len(volume):], string(filepath.Separator)) {
		names := patternOf(part)
		var next []string
		for _, folder := range found {
			switch {
			case i == 0 && part == "":
				next = append(next, folder+string(filepath.Separator))
				continue
			case !names.stands():
				if path := filepath.Join(folder, part); pathExists(path) {
					next = append(next, path)
				}
				continue
			}
			entries, err := os.ReadDir(cmp.Or(folder, "."))
			if info, failed := os.Stat(cmp.Or(folder, ".")); failed == nil && info.IsDir() && err != nil {
				return nil, fmt.Errorf("store: %w", err)
			}
			for _, e := range entries {
				if _, ok := names.fit(e.Name()); ok {
					next = append(next, filepath.Join(folder, e.Name()))
				}
			}
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// placed is tiles at places in pixels, or in a grid.
type placed struct {
	tiles  []Tile
	byGrid bool
}

func (l *placed) open(ctx context.Context, in nest) (*Array, error) {
	if !l.byGrid {
		return openTiles(ctx, l.tiles, in)
	}
	// Tiles of a grid are equal but for those at the right and at the bottom. It begins where the first tiles are.
	low, high := image.Pt(math.MaxInt, math.MaxInt), image.Pt(0, 0)
	for _, t := range l.tiles {
		low, high = image.Pt(min(low.X, t.X), min(low.Y, t.Y)), image.Pt(max(high.X, t.X), max(high.Y, t.Y))
	}
	m := &mosaic{in: in}
	if err := m.addAll(ctx, l.tiles); err != nil {
		return nil, err
	}
	w, h := 0, 0
	for _, a := range m.tiles {
		w, h = max(w, a.m.shape[1]), max(h, a.m.shape[0])
	}
	tiles := slices.Clone(l.tiles)
	taken := map[image.Point]string{}
	for i := range tiles {
		t, shape := &tiles[i], m.tiles[i].m.shape
		if shape[1] < w && t.X < high.X || shape[0] < h && t.Y < high.Y {
			m.close()
			return nil, bad("tile %s has %d×%d pixels, and others of the grid %d×%d: only those at the right and at the bottom may be smaller", m.names[i], shape[1], shape[0], w, h)
		}
		if other, ok := taken[image.Pt(t.X, t.Y)]; ok {
			m.close()
			return nil, bad("tiles %s and %s are in the same place", other, m.names[i])
		}
		taken[image.Pt(t.X, t.Y)] = m.names[i]
		t.X, t.Y = (t.X-low.X)*w, (t.Y-low.Y)*h
	}
	return m.place(ctx, tiles)
}

// PlaceTIFFs has tiles where the tags of GeoTIFF files say that they are, north up: the first in the west and north at 0, 0. Their pixels are of one
// size and on one grid.
func PlaceTIFFs(ctx context.Context, paths []string) ([]Tile, error) {
	places := make([][4]float64, len(paths))
	west, north := math.Inf(1), math.Inf(-1)
	for i, path := range paths {
		_, t, err := openTIFF(ctx, path)
		if err != nil {
			return nil, err
		}
		places[i] = t.place
		if p := t.place; !(p[2] > 0) || !(p[3] > 0) || math.IsInf(p[0]+p[1]+p[2]+p[3], 0) || p[0] != p[0] || p[1] != p[1] {
			return nil, bad("%s does not say where it is: a list of tiles, or names with {row} and {column} or {x} and {y}, would", path)
		}
		if math.Abs(t.place[2]/places[0][2]-1) > 1e-6 || math.Abs(t.place[3]/places[0][3]-1) > 1e-6 {
			return nil, bad("%s has pixels of another size than %s", path, paths[0])
		}
		west, north = min(west, t.place[0]), max(north, t.place[1])
	}
	tiles := make([]Tile, len(paths))
	for i, path := range paths {
		x, ok1 := whole((places[i][0] - west) / places[0][2])
		y, ok2 := whole((north - places[i][1]) / places[0][3])
		if !ok1 || !ok2 {
			return nil, bad("%s is not on the grid of the other tiles", path)
		}
		tiles[i] = Tile{path, x, y}
	}
	return tiles, nil
}

// whole is a number of pixels, which may have been rounded on its way.
func whole(f float64) (int, bool) {
	n := math.Round(f)
	return int(n), math.Abs(f-n) < 0.01 && n >= 0 && n <= math.MaxInt32
}

// openList opens the tiles of a list: a CSV file whose first line has file, x and y, or file, row and column.
func openList(ctx context.Context, path string, in nest) (*Array, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	list, err := parseList(data, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	return list.open(ctx, in)
}

func parseList(data []byte, folder string) (*placed, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.Comment, r.TrimLeadingSpace = '#', true
	lines, err := r.ReadAll()
	if err != nil {
		return nil, bad("%v", err)
	}
	if len(lines) < 2 {
		return nil, bad("a list of tiles has a line file,x,y or file,row,column, and a line for each tile")
	}
	columns := map[string]int{}
	for i, name := range lines[0] {
		columns[strings.TrimSpace(name)] = i
	}
	_, grid := columns["row"]
	names := []string{"file", "x", "y"}
	if grid {
		names = []string{"file", "column", "row"}
	}
	for _, name := range names {
		if _, ok := columns[name]; !ok || len(columns) != 3 {
			return nil, bad("the first line of a list of tiles is file,x,y or file,row,column, and not %s", strings.Join(lines[0], ","))
		}
	}
	list := &placed{byGrid: grid}
	for n, line := range lines[1:] {
		t := Tile{Location: strings.TrimSpace(line[columns["file"]])}
		for i, to := range []*int{&t.X, &t.Y} {
			v, err := strconv.Atoi(strings.TrimSpace(line[columns[names[i+1]]]))
			if err != nil || v < 0 || v > math.MaxInt32 {
				return nil, bad("tile %d of the list: %s is no place", n+1, line[columns[names[i+1]]])
			}
			*to = v
		}
		t.Location = beside(folder, t.Location)
		list.tiles = append(list.tiles, t)
	}
	return list, nil
}

// beside is a path that is relative to a folder.
func beside(folder, location string) string {
	if filepath.IsAbs(location) || strings.Contains(location, "://") {
		return location
	}
	return filepath.Join(folder, filepath.FromSlash(location))
}
