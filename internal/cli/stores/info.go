package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// Info implements the info command.
type Info struct {
	In   string `arg:"" name:"FILE" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM), .npy array, .npz archive or mosaic; Zarr array, group or table: a folder, a zip file or a URL."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// An arrayInfo describes an array.
type arrayInfo struct {
	Path   string    `json:"path"`
	Type   string    `json:"type"`
	Shape  []int     `json:"shape"`
	Chunk  []int     `json:"chunk"`
	Object []int     `json:"object"`
	Codecs []string  `json:"codecs"`
	Zarr   int       `json:"zarr"`
	Scale  []float64 `json:"scale,omitempty"` // of a level of an OME-Zarr image
}

// numPy begins the kinds of arrays in .npy and .npz files.
const numPy = "NumPy "

type storeInfo struct {
	Kind   string      `json:"kind"`
	Arrays []arrayInfo `json:"arrays"`
	*fileInfo
}

// Run describes a file or a store.
func (c *Info) Run(sh *console.Shell) error {
	info, err := console.Await(sh.Ctx, func() (storeInfo, error) { return c.info(sh) })
	if err != nil {
		return err
	}
	w := sh.Results()
	if c.JSON {
		return display.JSON(w, info)
	}
	if _, err := fmt.Fprintln(w, info.Kind); err != nil {
		return err
	}
	if info.fileInfo != nil {
		for _, row := range info.rows() {
			if _, err := fmt.Fprintf(w, "%-11s  %s\n", row[0], row[1]); err != nil {
				return err
			}
		}
		return nil
	}
	list := func(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", "×"), "[]") }
	if strings.HasPrefix(info.Kind, numPy) { // arrays without chunks
		rows := [][]string{{"array", "type", "shape"}}
		for _, a := range info.Arrays {
			rows = append(rows, []string{a.Path, a.Type, list(a.Shape)})
		}
		return display.Columns(w, rows)
	}
	rows := [][]string{{"array", "type", "shape", "chunk", "object", "codecs"}}
	for _, a := range info.Arrays {
		rows = append(rows, []string{a.Path, a.Type, list(a.Shape), list(a.Chunk), list(a.Object), strings.ReplaceAll(strings.Join(a.Codecs, "+"), "sharding_indexed", "sharding")})
	}
	return display.Columns(w, rows)
}

func (c *Info) info(sh *console.Shell) (storeInfo, error) {
	if sources.IsMosaic(c.In) {
		a, err := imagefile.OpenArray(sh, c.In, &imagefile.Flags{})
		if err != nil {
			return storeInfo{}, err
		}
		defer a.Close()
		one := describe(".", a)
		one.Codecs, one.Zarr = []string{}, 0
		return storeInfo{Kind: "mosaic", Arrays: []arrayInfo{one}}, nil
	}
	if info, err := os.Stat(c.In); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(c.In, ".zip") {
		return describeFile(sh, c.In)
	}
	b, err := zarr.OpenBucket(sh.Ctx, c.In, false)
	if err != nil {
		return storeInfo{}, err
	}
	defer b.Close()
	info, err := describeStore(sh.Ctx, b)
	if err != nil {
		return storeInfo{}, fmt.Errorf("%s: %w", zarr.Redacted(c.In), err)
	}
	return info, nil
}

// describeStore describes a Zarr array or group.
func describeStore(ctx context.Context, b zarr.Bucket) (storeInfo, error) {
	if a, err := zarr.OpenArray(ctx, b, ""); err == nil {
		return storeInfo{Kind: "Zarr array", Arrays: []arrayInfo{describe(".", a)}}, nil
	} else if errors.Is(err, fs.ErrNotExist) {
		return storeInfo{}, err
	}
	g, err := zarr.OpenGroup(ctx, b, "")
	if err != nil {
		return storeInfo{}, err
	}
	names, err := g.Arrays(ctx)
	if err != nil {
		return storeInfo{}, err
	}
	info := storeInfo{Kind: "Zarr group"}
	levels, _, err := g.Levels()
	if err != nil {
		return storeInfo{}, err
	}
	if len(levels) > 0 {
		info.Kind = "OME-Zarr image"
	}
	var table struct {
		Kind     string
		Complete bool
		Width    int
		Height   int
		Channels int
		Pixel    string
		Compact  bool
	}
	if ok, err := g.Attribute("boxsum", &table); err != nil {
		return storeInfo{}, err
	} else if ok {
		info.Kind = fmt.Sprintf("%s of %d×%d×%d %s", table.Kind, table.Width, table.Height, table.Channels, table.Pixel)
		if table.Compact {
			info.Kind += ", compact"
		}
		if !table.Complete {
			info.Kind += ", not finished"
		}
	}
	for _, name := range names {
		a, err := g.Array(ctx, name)
		if err != nil {
			return storeInfo{}, err
		}
		one := describe(name, a)
		for _, l := range levels {
			if l.Path == name {
				one.Scale = l.Scale
			}
		}
		info.Arrays = append(info.Arrays, one)
	}
	return info, nil
}
