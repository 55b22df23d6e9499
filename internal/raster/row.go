package raster

// Row returns the memory of row y of an image, without the gap after it. The extent
// must be complete and y in range.
func (a *Array) Row(y int) []byte {
	size := a.Type.Bytes()
	from := y * a.Stride * size
	return a.Data[from:][:a.Width*a.Channels*size]
}

// Floats appends every step-th value of row y of an image to dst, from value first up
// to but not including value end.
func (a *Array) Floats(dst []float64, y, first, end, step int) []float64 {
	if first >= end {
		return dst
	}
	row := a.From(y*a.Stride + first)
	switch n := end - first; a.Type {
	case U8:
		return appendFloats(dst, row[:n], step)
	case U16:
		return appendFloats(dst, Elems[uint16](row)[:n], step)
	case U32:
		return appendFloats(dst, Elems[uint32](row)[:n], step)
	case U64:
		return appendFloats(dst, Elems[uint64](row)[:n], step)
	case I16:
		return appendFloats(dst, Elems[int16](row)[:n], step)
	case I32:
		return appendFloats(dst, Elems[int32](row)[:n], step)
	case I64:
		return appendFloats(dst, Elems[int64](row)[:n], step)
	case F32:
		return appendFloats(dst, Elems[float32](row)[:n], step)
	case F64:
		return appendFloats(dst, Elems[float64](row)[:n], step)
	}
	return dst
}

func appendFloats[T Number](dst []float64, row []T, step int) []float64 {
	for i := 0; i < len(row); i += step {
		dst = append(dst, float64(row[i]))
	}
	return dst
}
