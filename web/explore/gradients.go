package explore

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/raster"
)

// maxCell is the largest side of a cell whose gradients are counted.
const maxCell = 256

// oriented is the histogram of oriented gradients of a cell.
type oriented struct {
	Sums    []float64 `json:"sums"`    // of gradients, in levels of 8-bit gray
	Centers []float64 `json:"centers"` // directions of the bins, in degrees
}

// gradients returns the histogram of the gradients of a cell. Pixels that are not 8-bit are scaled from
// the range of the image.
func (r *plane) gradients(cell image.Rectangle, channel int) (*oriented, error) {
	bounds := image.Rect(0, 0, r.img.Width, r.img.Height)
	if cell = cell.Intersect(bounds); cell.Empty() || cell.Dx() > maxCell || cell.Dy() > maxCell {
		return nil, refuse("cell has %d×%d pixels in the image, want sides from 1 to %d", cell.Dx(), cell.Dy(), maxCell)
	}
	around := cell.Inset(-1).Intersect(bounds) // gradients are differences of neighbors
	img := boxsum.Image[uint8]{Pix: make([]uint8, around.Dx()*around.Dy()), Width: around.Dx(), Height: around.Dy(), Channels: 1, Stride: around.Dx()}
	if m := &r.img; m.Type == raster.U8 {
		for y := range img.Height {
			row := m.Row(around.Min.Y + y)
			for x := range img.Width {
				img.Pix[y*img.Stride+x] = row[(around.Min.X+x)*m.Channels+channel]
			}
		}
	} else if r.high > r.low {
		r.tile(img.Pix, tile{x: around.Min.X, y: around.Min.Y, w: img.Width, h: img.Height, low: r.low, scale: 255 / (r.high - r.low)}, channel)
	}
	table, err := hog.Integrate(img, hog.Votes{Linear: true, Spread: 1}, &hog.TableOptions{Workers: 1})
	if err != nil {
		return nil, err
	}
	o := &oriented{Sums: table.Histogram(nil, cell.Sub(around.Min))}
	for i := range o.Sums {
		o.Centers = append(o.Centers, table.Histograms.Bins.Center(i))
	}
	return o, nil
}
