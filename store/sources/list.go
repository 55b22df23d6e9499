package sources

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/zarr"
)

// placed is a set of tiles at positions in pixels or in a grid.
type placed struct {
	tiles  []Tile
	byGrid bool
}

func (l *placed) open(ctx context.Context, in nest) (*zarr.Array, error) {
	if !l.byGrid {
		return openTiles(ctx, l.tiles, in)
	}
	// The tiles of a grid are equal in size except at the right and bottom edges. The grid
	// starts at the first tiles.
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
		w, h = max(w, a.Shape()[1]), max(h, a.Shape()[0])
	}
	tiles := slices.Clone(l.tiles)
	taken := map[image.Point]string{}
	for i := range tiles {
		t, shape := &tiles[i], m.tiles[i].Shape()
		if shape[1] < w && t.X < high.X || shape[0] < h && t.Y < high.Y {
			m.close()
			return nil, bad("tile %s is %d×%d pixels, want %d×%d like the others (only those at the right and at the bottom may be smaller)", m.names[i], shape[1], shape[0], w, h)
		}
		if other, ok := taken[image.Pt(t.X, t.Y)]; ok {
			m.close()
			return nil, bad("tiles %s and %s are at the same position", other, m.names[i])
		}
		taken[image.Pt(t.X, t.Y)] = m.names[i]
		t.X, t.Y = (t.X-low.X)*w, (t.Y-low.Y)*h
	}
	return m.place(ctx, tiles)
}

// PlaceTIFFs returns GeoTIFF files as tiles, positioned by their tags with north up.
// Position (0, 0) is at the westernmost and northernmost coordinates of all files. Their
// pixels must have the same size and lie on one grid.
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
			return nil, bad("the position of %s is unknown (use a list of tiles, or names with {row} and {column} or {x} and {y})", path)
		}
		if math.Abs(t.place[2]/places[0][2]-1) > 1e-6 || math.Abs(t.place[3]/places[0][3]-1) > 1e-6 {
			return nil, bad("pixels of %s are %v×%v, want %v×%v as in %s", path, t.place[2], t.place[3], places[0][2], places[0][3], paths[0])
		}
		west, north = min(west, t.place[0]), max(north, t.place[1])
	}
	tiles := make([]Tile, len(paths))
	for i, path := range paths {
		x, ok1 := whole((places[i][0] - west) / places[0][2])
		y, ok2 := whole((north - places[i][1]) / places[0][3])
		if !ok1 || !ok2 {
			return nil, bad("%s begins between pixels of the grid of %s, want whole pixels", path, paths[0])
		}
		tiles[i] = Tile{path, x, y}
	}
	return tiles, nil
}

// whole returns a number of pixels that may have been rounded, and reports whether it is an
// integer.
func whole(f float64) (int, bool) {
	n := math.Round(f)
	return int(n), math.Abs(f-n) < 0.01 && n >= 0 && n <= math.MaxInt32
}

// openList opens the tiles of a list: a CSV file whose first line contains file, x and y,
// or file, row and column.
func openList(ctx context.Context, path string, in nest) (*zarr.Array, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := parseList(data, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
		return nil, bad("the list of tiles has %d lines, want file,x,y or file,row,column, followed by a line for each tile", len(lines))
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
			return nil, bad("the first line of a list of tiles is %s, want file,x,y or file,row,column", strings.Join(lines[0], ","))
		}
	}
	list := &placed{byGrid: grid}
	for n, line := range lines[1:] {
		t := Tile{Location: strings.TrimSpace(line[columns["file"]])}
		for i, to := range []*int{&t.X, &t.Y} {
			v, err := strconv.Atoi(strings.TrimSpace(line[columns[names[i+1]]]))
			if err != nil || v < 0 || v > math.MaxInt32 {
				return nil, bad("%s of tile %d of the list is %q, want 0 to %d", names[i+1], n+1, line[columns[names[i+1]]], math.MaxInt32)
			}
			*to = v
		}
		t.Location = relativeTo(folder, t.Location)
		list.tiles = append(list.tiles, t)
	}
	return list, nil
}

// relativeTo resolves a path relative to a folder.
func relativeTo(folder, location string) string {
	if filepath.IsAbs(location) || strings.Contains(location, "://") {
		return location
	}
	return filepath.Join(folder, filepath.FromSlash(location))
}
