package stores

import (
	"archive/zip"
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// A fileInfo describes a picture or a .npy array.
type fileInfo struct {
	Format string `json:"format"`
	imagefile.Extent
	Type        string  `json:"type"`
	Bits        int     `json:"bits,omitempty"` // per sample in the file
	Pages       int     `json:"pages"`
	Orientation int     `json:"orientation"`            // EXIF tag; the size is the one after applying it
	XResolution float64 `json:"x_resolution,omitempty"` // in pixels per inch
	YResolution float64 `json:"y_resolution,omitempty"`
	ICCProfile  int     `json:"icc_profile_bytes,omitempty"`
}

// describeFile describes a picture, a .npy array or a .npz archive.
func describeFile(sh *console.Shell, path string) (storeInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return storeInfo{}, err
	}
	defer f.Close()
	head := make([]byte, 4)
	if _, err := f.ReadAt(head, 0); err != nil {
		head = nil // too short for any format; its decoder reports the error
	}
	switch string(head) {
	case "PK\x03\x04":
		return describeArchive(f)
	case "\x93NUM":
		h, err := imgio.ReadNPYHeader(f)
		if err != nil {
			return storeInfo{}, fmt.Errorf("%s: %w", path, err)
		}
		info := storeInfo{Kind: numPy + "array", Arrays: []arrayInfo{wholeArray(".", h.Element, h.Shape)}}
		if e, ok := extentOf(h.Shape); ok {
			info.Kind = "image"
			info.fileInfo = &fileInfo{Format: "npy", Extent: e, Type: h.Element, Pages: 1, Orientation: 1}
		}
		return info, nil
	}
	pages, err := imgio.OpenPages(path, imgio.Options{Color: imgio.Keep, AsStored: true})
	if err == nil {
		defer pages.Close()
		if imagefile.LargeFile(path) == "" {
			var info storeInfo
			if info, err = describePicture(pages); err == nil {
				return info, nil
			}
		}
	}
	// Large TIFF files are not decoded; other large files may be read in parts.
	a, failed := sources.OpenTIFF(sh.Ctx, path)
	if failed != nil {
		return storeInfo{}, cmp.Or(err, failed)
	}
	defer a.Close()
	one := describe(".", a)
	one.Codecs, one.Zarr = []string{}, 0
	info := storeInfo{Kind: "image", Arrays: []arrayInfo{one}}
	if e, ok := extentOf(one.Shape); ok {
		info.fileInfo = &fileInfo{Format: "tiff", Extent: e, Type: one.Type, Bits: 8 * a.Type().Size(), Pages: 1, Orientation: 1}
		if pages != nil {
			info.Pages = pages.N
		}
	}
	return info, nil
}

func describePicture(pages *imgio.Pages) (storeInfo, error) {
	p, err := pages.Page(1)
	if err != nil {
		return storeInfo{}, err
	}
	m, img := p.Metadata, pixels.Of(p.Image)
	f := &fileInfo{
		Format: p.Format, Extent: imagefile.ExtentOf(img), Type: img.Type.String(), Bits: p.Bits, Pages: p.Pages,
		Orientation: max(1, m.Orientation), XResolution: m.XResolution, YResolution: m.YResolution, ICCProfile: len(m.ICCProfile),
	}
	if f.turned() {
		f.Width, f.Height = f.Height, f.Width
		f.XResolution, f.YResolution = f.YResolution, f.XResolution
	}
	shape := []int{f.Height, f.Width}
	if f.Channels > 1 {
		shape = append(shape, f.Channels)
	}
	return storeInfo{"image", []arrayInfo{wholeArray(".", f.Type, shape)}, f}, nil
}

// describeArchive describes the arrays of a .npz file.
func describeArchive(f *os.File) (storeInfo, error) {
	stat, err := f.Stat()
	if err != nil {
		return storeInfo{}, err
	}
	z, err := zip.NewReader(f, stat.Size())
	if err != nil {
		return storeInfo{}, fmt.Errorf("%s: %w", f.Name(), err)
	}
	info := storeInfo{Kind: numPy + "archive", Arrays: []arrayInfo{}}
	for _, member := range z.File {
		name, ok := strings.CutSuffix(member.Name, ".npy")
		if !ok {
			continue
		}
		r, err := member.Open()
		if err != nil {
			return storeInfo{}, err
		}
		h, err := imgio.ReadNPYHeader(r)
		r.Close()
		if err != nil {
			return storeInfo{}, fmt.Errorf("%s: array %s: %w", f.Name(), name, err)
		}
		info.Arrays = append(info.Arrays, wholeArray(name, h.Element, h.Shape))
	}
	if len(info.Arrays) == 0 {
		return storeInfo{}, fmt.Errorf("%s is a zip file without .npy arrays (the name of a zipped Zarr array must end in .zarr.zip)", f.Name())
	}
	return info, nil
}

// wholeArray describes an array that is not divided into chunks.
func wholeArray(path, kind string, shape []int) arrayInfo {
	return arrayInfo{Path: path, Type: kind, Shape: shape, Chunk: shape, Object: shape, Codecs: []string{}}
}

// extentOf returns the size of the image in an array of shape (H, W) or (H, W, C).
func extentOf(shape []int) (imagefile.Extent, bool) {
	switch {
	case len(shape) == 2:
		return imagefile.Extent{Width: shape[1], Height: shape[0], Channels: 1}, true
	case len(shape) == 3 && shape[2] <= imagefile.MostChannels:
		return imagefile.Extent{Width: shape[1], Height: shape[0], Channels: shape[2]}, true
	}
	return imagefile.Extent{}, false
}

// turned reports whether the orientation exchanges width and height.
func (f *fileInfo) turned() bool { return f.Orientation >= 5 }

// rows returns names and values for printing, one pair per line.
func (f *fileInfo) rows() [][2]string {
	rows := [][2]string{
		{"format", map[string]string{"jpeg": "JPEG", "webp": "WebP", "npy": ".npy"}[f.Format]},
		{"size", fmt.Sprintf("%d×%d", f.Width, f.Height)},
		{"channels", strconv.Itoa(f.Channels)},
		{"type", f.Type},
	}
	if rows[0][1] == "" {
		rows[0][1] = strings.ToUpper(f.Format)
	}
	if f.Format == "npy" {
		return rows
	}
	rows = append(rows, [2]string{"bits", strconv.Itoa(f.Bits)})
	parts, orientation, resolution, profile := "pages", strconv.Itoa(f.Orientation), "unknown", "none"
	if f.Format == "gif" {
		parts = "frames"
	}
	if f.turned() {
		orientation += fmt.Sprintf(" (stored as %d×%d)", f.Height, f.Width)
	}
	if f.XResolution > 0 {
		x, y := display.Rounded(f.XResolution), display.Rounded(f.YResolution)
		if resolution = x + " dpi"; x != y {
			resolution = x + "×" + y + " dpi"
		}
	}
	if f.ICCProfile > 0 {
		profile = display.Count(f.ICCProfile, "byte")
	}
	return append(rows, [2]string{parts, strconv.Itoa(f.Pages)}, [2]string{"orientation", orientation}, [2]string{"resolution", resolution}, [2]string{"ICC profile", profile})
}

func describe(path string, a *zarr.Array) arrayInfo {
	return arrayInfo{path, a.Type().String(), a.Shape(), a.Chunk(), a.Object(), a.Codecs(), a.Version(), nil}
}
