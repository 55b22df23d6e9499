package enhance

import "github.com/boxsum/boxsum/internal/raster"

// runBrightness equalizes the brightness of color pixels, which is that of their brightest channel: V in HSV. Channels
// keep their proportions, and alpha stays as it is.
func (j *Job) runBrightness() error {
	src, dst := &j.Src, &j.Dst
	values, err := raster.NewPixelArray(src.Type, raster.PlaneExtent(src.Width, src.Height, 1, 0))
	if err != nil {
		return err
	}
	one := *j
	one.Src, one.Dst = values, values
	for y := range src.Height {
		if src.Type == raster.U8 {
			brightness[uint8](values.Span(0, y, src.Width), src.Span(0, y, src.Width), src.Channels)
		} else {
			brightness[uint16](values.Span(0, y, src.Width), src.Span(0, y, src.Width), src.Channels)
		}
	}
	if err := one.Run(); err != nil {
		return err
	}
	for y := range src.Height {
		if src.Type == raster.U8 {
			scaleTo[uint8](dst.Span(0, y, src.Width), src.Span(0, y, src.Width), values.Span(0, y, src.Width), src.Channels)
		} else {
			scaleTo[uint16](dst.Span(0, y, src.Width), src.Span(0, y, src.Width), values.Span(0, y, src.Width), src.Channels)
		}
	}
	return nil
}

func brightness[P uint8 | uint16](to, from []byte, channels int) {
	dst, src := raster.Elems[P](to), raster.Elems[P](from)
	for i := range dst {
		p := src[i*channels:][:3]
		dst[i] = max(p[0], p[1], p[2])
	}
}

// scaleTo scales the channels of pixels such that their brightness is that in values.
func scaleTo[P uint8 | uint16](to, from, values []byte, channels int) {
	dst, src := raster.Elems[P](to), raster.Elems[P](from)
	for i, v := range raster.Elems[P](values) {
		p, q := src[i*channels:][:channels], dst[i*channels:][:channels]
		before := uint64(max(p[0], p[1], p[2]))
		for c := range 3 {
			if before == 0 {
				q[c] = v
			} else {
				q[c] = P((uint64(p[c])*uint64(v) + before/2) / before)
			}
		}
		if channels == 4 {
			q[3] = p[3]
		}
	}
}
