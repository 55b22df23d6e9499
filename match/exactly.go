package match

import "github.com/boxsum/boxsum/internal/kernel/transforms"

// window returns the pixels under the template at a place.
func (j *job) window(x, y int) transforms.Window {
	w := transforms.Window{
		Pixels: j.src.From(y*j.src.Stride + x*j.src.Channels), Stride: j.src.Stride,
		Template: j.template.Data, TemplateStride: j.template.Stride,
		Width: j.template.Width, Height: j.template.Height, Channels: j.src.Channels,
		Centered: j.method == ZNCC, Squared: j.method == SSD,
	}
	if j.masked {
		w.Mask, w.MaskStride = j.mask.Data, j.mask.Stride
	}
	return w
}

// exactly returns a score computed by its definition.
func (j *job) exactly(x, y int) float64 { return j.window(x, y).Score(j.src.Type) }

// energy returns Σ(I-mean)² of a window, or ΣI² for NCC, in two passes.
func (j *job) energy(x, y int) float64 {
	w := j.window(x, y)
	w.Centered = j.method != NCC
	return w.Energy(j.src.Type)
}
