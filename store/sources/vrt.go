package sources

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// Virtual files of GDAL, as written by gdalbuildvrt: bands of sources, each an unmodified
// part of a file. Anything that would change pixels is an error.

type vrtFile struct {
	XMLName xml.Name  `xml:"VRTDataset"`
	Kind    string    `xml:"subClass,attr"`
	Width   int       `xml:"rasterXSize,attr"`
	Height  int       `xml:"rasterYSize,attr"`
	Bands   []vrtBand `xml:"VRTRasterBand"`
	Groups  []vrtAny  `xml:"Group"`
}

type vrtBand struct {
	Type    string      `xml:"dataType,attr"`
	Kind    string      `xml:"subClass,attr"`
	NoData  string      `xml:"NoDataValue"`
	Sources []vrtSource `xml:",any"` // in order, among other elements
}

type vrtSource struct {
	XMLName xml.Name
	File    struct {
		Name     string `xml:",chardata"`
		Relative string `xml:"relativeToVRT,attr"`
	} `xml:"SourceFilename"`
	Band   string   `xml:"SourceBand"`
	NoData string   `xml:"NODATA"`
	Src    *vrtRect `xml:"SrcRect"`
	Dst    *vrtRect `xml:"DstRect"`
	Others []vrtAny `xml:",any"`
}

type vrtRect struct {
	X      float64 `xml:"xOff,attr"`
	Y      float64 `xml:"yOff,attr"`
	Width  float64 `xml:"xSize,attr"`
	Height float64 `xml:"ySize,attr"`
}

type vrtAny struct {
	XMLName xml.Name
	Inside  string `xml:",innerxml"`
}

var vrtTypes = map[string]zarr.Type{"": zarr.Uint8, "Byte": zarr.Uint8, "Int8": zarr.Int8, "UInt16": zarr.Uint16, "Int16": zarr.Int16, "UInt32": zarr.Uint32, "Int32": zarr.Int32, "UInt64": zarr.Uint64, "Int64": zarr.Int64,
	"Float16": zarr.Float16, "Float32": zarr.Float32, "Float64": zarr.Float64}

// Elements of sources and bands that do not change pixels.
var vrtPlain = []string{"SourceProperties", "OpenOptions", "ColorInterp", "ColorTable", "Description", "Metadata", "UnitType", "Offset", "Scale", "Histograms", "CategoryNames",
	"MaskBand", "Overview", "HideNoDataValue", "GDALRasterAttributeTable"}

func openVRT(ctx context.Context, path string, in nest) (*zarr.Array, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := parseVRT(data)
	m.in = in
	if err == nil {
		if err = m.resolve(ctx, filepath.Dir(path)); err == nil {
			return m.open(ctx)
		}
	}
	m.close()
	return nil, fmt.Errorf("%s: %w", path, err)
}

// A vrt is a mosaic whose tiles are not open yet.
type vrt struct {
	mosaic
	bands [][]vrtSource
}

// parseVRT parses a virtual file and checks everything that does not require the sources.
func parseVRT(data []byte) (*vrt, error) {
	m := &vrt{}
	var f vrtFile
	if err := xml.Unmarshal(data, &f); err != nil {
		return m, bad("not a GDAL virtual file: %v", err)
	}
	switch {
	case f.Kind != "" || len(f.Groups) > 0:
		return m, bad("virtual files of kind %q are not supported, only bands with sources", f.Kind)
	case f.Width < 1 || f.Height < 1 || f.Width > math.MaxInt32 || f.Height > math.MaxInt32:
		return m, bad("mosaic is %d×%d pixels, want at least 1×1", f.Width, f.Height)
	case len(f.Bands) < 1 || len(f.Bands) > 64:
		return m, bad("number of bands is %d, want 1 to 64", len(f.Bands))
	}
	m.width, m.height, m.channels = f.Width, f.Height, len(f.Bands)
	first := &f.Bands[0]
	var ok bool
	if m.typ, ok = vrtTypes[first.Type]; !ok {
		return m, bad("type of band 1 is %q, want Byte, Int8, UInt16, Int16, UInt32, Int32, UInt64, Int64, Float16, Float32 or Float64", first.Type)
	}
	for b := range f.Bands {
		band := &f.Bands[b]
		switch {
		case band.Kind != "":
			return m, bad("kind of band %d is %q, want a plain band without a subClass", b+1, band.Kind)
		case vrtTypes[band.Type] != m.typ || band.NoData != first.NoData:
			return m, bad("band %d has type %q and no-data value %q, want %q and %q like the first", b+1, band.Type, band.NoData, first.Type, first.NoData)
		}
		var sources []vrtSource
		for _, source := range band.Sources {
			switch name := source.XMLName.Local; {
			case name == "SimpleSource":
				source.NoData = ""
			case name == "ComplexSource":
			case slices.Contains(vrtPlain, name):
				continue
			default:
				return m, bad("band %d has a %s, which is not supported", b+1, name)
			}
			for _, other := range source.Others {
				if !slices.Contains(vrtPlain, other.XMLName.Local) || other.XMLName.Local == "OpenOptions" && strings.TrimSpace(other.Inside) != "" {
					return m, bad("a source of band %d has a %s, which changes pixels and is not supported", b+1, other.XMLName.Local)
				}
			}
			sources = append(sources, source)
		}
		m.bands = append(m.bands, sources)
	}
	if text := strings.TrimSpace(first.NoData); text != "" {
		m.fill = vrtNumber(text)
		if _, err := m.typ.ParseElement(m.fill); err != nil {
			return m, bad("the no-data value %s does not fit in %v", text, m.typ)
		}
	}
	return m, nil
}

// vrtNumber returns a number as JSON.
func vrtNumber(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if n, ok := new(big.Int).SetString(text[:min(len(text), 32)], 10); ok && len(text) <= 32 {
		return json.RawMessage(n.String()) // a float may not represent it
	}
	f, err := strconv.ParseFloat(text, 64)
	if wide, _, failed := big.ParseFloat(text[:min(len(text), 32)], 10, 64, big.ToNearestEven); err != nil && failed == nil && len(text) <= 32 {
		// GDAL wrote the largest numbers with 15 digits, which rounded them up.
		if ratio, _ := new(big.Float).Quo(wide, big.NewFloat(math.MaxFloat64)).Float64(); math.Abs(ratio) < 1+1e-13 {
			f, err = math.Copysign(math.MaxFloat64, ratio), nil
		}
	}
	switch {
	case err != nil:
		return json.RawMessage(`"?"`)
	case f != f:
		return json.RawMessage(`"NaN"`)
	case math.IsInf(f, 1):
		return json.RawMessage(`"Infinity"`)
	case math.IsInf(f, -1):
		return json.RawMessage(`"-Infinity"`)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return json.RawMessage(strconv.FormatInt(int64(f), 10)) // including 255.0
	}
	return json.RawMessage(strconv.FormatFloat(f, 'g', -1, 64))
}

// resolve opens the files of all sources, each once.
func (m *vrt) resolve(ctx context.Context, folder string) error {
	if same := m.alike(); same {
		m.bands = m.bands[:1]
	}
	all := len(m.bands) == 1 && (m.channels > 1 || len(m.bands[0]) == 0)
	opened := map[string]int{}
	for b, sources := range m.bands {
		for i := range sources {
			s := &sources[i]
			name := strings.TrimSpace(s.File.Name)
			if s.File.Relative == "1" {
				name = relativeTo(folder, name)
			}
			n, ok := opened[name]
			if !ok {
				var err error
				if n, err = m.add(ctx, name, nil); err != nil {
					return err
				}
				opened[name] = n
			}
			if err := m.place(s, n, b, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// place adds the pieces of a source, which is in an opened file, to a band, or to all.
func (m *vrt) place(s *vrtSource, file, b int, all bool) error {
	name := m.names[file] // as errors may show it
	p := piece{tile: file, from: -1, to: -1}
	shape := m.tiles[file].Shape()
	channels, band := raster.Product(shape[2:]), 1
	if text := strings.TrimSpace(s.Band); text != "" {
		var err error
		if band, err = strconv.Atoi(text); err != nil || band < 1 || band > channels {
			return bad("band of %s is %s, want 1 to %d", name, text, channels)
		}
	}
	if !all && (m.channels > 1 || channels > 1) {
		p.from, p.to = band-1, b
	}
	if s.NoData != "" {
		var err error
		if p.without, err = m.typ.ParseElement(vrtNumber(s.NoData)); err != nil {
			return bad("%s: the no-data value %s does not fit in %v", name, s.NoData, m.typ)
		}
	}
	src, dst, err := s.rectangles(name, image.Rect(0, 0, shape[1], shape[0]))
	if err != nil {
		return err
	}
	if p.dst = dst.Intersect(image.Rect(0, 0, m.width, m.height)); p.dst.Empty() {
		return nil
	}
	p.src = src.Min.Add(p.dst.Min).Sub(dst.Min)
	if !all || channels == m.channels {
		m.pieces = append(m.pieces, p)
		return nil
	}
	if channels < m.channels {
		return bad("%s has %d bands, want %d", name, channels, m.channels)
	}
	for c := range m.channels {
		p.from, p.to = c, c
		m.pieces = append(m.pieces, p)
	}
	return nil
}

// rectangles returns the part of a file that a source shows, and where. Without rectangles,
// a file lies at the origin. GDAL does not read sources with only one of the two.
func (s *vrtSource) rectangles(name string, whole image.Rectangle) (src, dst image.Rectangle, err error) {
	none := image.Rectangle{}
	if (s.Src == nil) != (s.Dst == nil) {
		return none, none, bad("%s: a source must have both a SrcRect and a DstRect, or neither", name)
	}
	if s.Src == nil {
		return whole, whole, nil
	}
	src, ok1 := s.Src.rectangle()
	dst, ok2 := s.Dst.rectangle()
	switch {
	case !ok1 || !ok2:
		return none, none, bad("%s: the source begins or ends between pixels, want whole pixels (resampling is not supported)", name)
	case src.Size() != dst.Size():
		return none, none, bad("%s: the source has %v pixels for %v of the mosaic, want as many (resampling is not supported)", name, src.Size(), dst.Size())
	case !src.In(whole):
		return none, none, bad("source rectangle of %s is %v, want one inside its %d×%d pixels", name, src, whole.Dx(), whole.Dy())
	}
	return src, dst, nil
}

// alike reports whether all bands have the same sources, in the same order.
func (m *vrt) alike() bool {
	for b, sources := range m.bands {
		if len(sources) != len(m.bands[0]) {
			return false
		}
		for i, s := range sources {
			o := m.bands[0][i]
			if s.File != o.File || s.NoData != o.NoData || !s.Src.equal(o.Src) || !s.Dst.equal(o.Dst) || strings.TrimSpace(s.Band) != strconv.Itoa(b+1) {
				return false
			}
		}
	}
	return len(m.bands) > 1
}

func (r *vrtRect) equal(o *vrtRect) bool {
	return r == o || r != nil && o != nil && *r == *o
}

// rectangle returns a rectangle of whole pixels.
func (r *vrtRect) rectangle() (image.Rectangle, bool) {
	var at [4]int
	for i, f := range []float64{r.X, r.Y, r.X + r.Width, r.Y + r.Height} {
		n := math.Round(f)
		if !(math.Abs(f-n) < 0.01) || math.Abs(n) > math.MaxInt32 {
			return image.Rectangle{}, false
		}
		at[i] = int(n)
	}
	return image.Rectangle{image.Pt(at[0], at[1]), image.Pt(at[2], at[3])}, at[2] > at[0] && at[3] > at[1]
}
