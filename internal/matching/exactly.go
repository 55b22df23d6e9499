package matching

import "github.com/boxsum/boxsum/internal/kernel/transforms"

// window returns the pixels under the template at a place.
func (j *Job) window(x, y int) transforms.Window {
	w := transforms.Window{
		Pixels: j.Src.From(y*j.Src.Stride + x*j.Src.Channels), Stride: j.Src.Stride,
		Template: j.Template.Data, TemplateStride: j.Template.Stride,
		Width: j.Template.Width, Height: j.Template.Height, Channels: j.Src.Channels,
		Centered: j.Method == ZNCC, Squared: j.Method == SSD,
	}
	if j.masked {
		w.Mask, w.MaskStride = j.Mask.Data, j.Mask.Stride
	}
	return w
}

// exactly returns a score computed by its definition.
func (j *Job) exactly(x, y int) float64 { return j.window(x, y).Score(j.Src.Type) }

// energy returns Σ(I-mean)² of a window, or ΣI² for NCC, in two passes.
func (j *Job) energy(x, y int) float64 {
	w := j.window(x, y)
	w.Centered = j.Method != NCC
	return w.Energy(j.Src.Type)
}
