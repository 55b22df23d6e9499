package raster

// SquaredPixels returns an image of the squares of the pixels, for summing to the given
// type: U64, for pixels of 8 and 16 bits, or F64, for all.
func SquaredPixels(src *Array, sum Type) (Array, error) {
	pixel := F64
	if sum != F64 {
		switch {
		case sum != U64 || src.Type.Float() || src.Type.Bytes() > 2:
			return Array{}, Unsupported("squares of %v cannot be summed in %v (use float64)", src.Type, sum)
		case src.Type == U8:
			pixel = U16
		default:
			pixel = U32
		}
	}
	dst, err := NewPixelArray(pixel, PlaneExtent(src.Width, src.Height, src.Channels, 0))
	if err != nil {
		return dst, err
	}
	var row []float64
	for y := range src.Height {
		row = src.Floats(row[:0], y, 0, src.Width*src.Channels, 1)
		switch to := dst.Row(y); pixel {
		case U16:
			squareRow(Elems[uint16](to), row)
		case U32:
			squareRow(Elems[uint32](to), row)
		default:
			squareRow(Elems[float64](to), row)
		}
	}
	return dst, nil
}

func squareRow[T Number](dst []T, row []float64) {
	for i, v := range row {
		dst[i] = T(v * v)
	}
}
