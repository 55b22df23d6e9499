package gpu

// orNone has what is nil be as large as what is empty, so that who asks for its size
// need not ask whether it is there.
func orNone[T any](there *T) *T {
	if there == nil {
		there = new(T)
	}
	return there
}

// Width is that of the images, in pixels.
func (im *Image[P]) Width() int { return orNone(im).width }

// Height is that of the images, in pixels.
func (im *Image[P]) Height() int { return orNone(im).height }

// Channels is how many values a pixel has.
func (im *Image[P]) Channels() int { return orNone(im).channels }

// Count is how many images there are.
func (im *Image[P]) Count() int { return orNone(im).count }

// String says what it is.
func (im *Image[P]) String() string { return orNone(im).array.String() }

// Width is that of the images, in pixels.
func (t *Table[S]) Width() int { return orNone(t).width }

// Height is that of the images, in pixels.
func (t *Table[S]) Height() int { return orNone(t).height }

// Channels is how many values a pixel has.
func (t *Table[S]) Channels() int { return orNone(t).channels }

// Count is how many tables there are.
func (t *Table[S]) Count() int { return orNone(t).count }

// String says what it is.
func (t *Table[S]) String() string { return orNone(t).array.String() }

// Width is that of the images, in pixels.
func (t *TiltedTable[S]) Width() int { return orNone(t).width }

// Height is that of the images, in pixels.
func (t *TiltedTable[S]) Height() int { return orNone(t).height }

// Channels is how many values a pixel has.
func (t *TiltedTable[S]) Channels() int { return orNone(t).channels }

// Count is how many tables there are.
func (t *TiltedTable[S]) Count() int { return orNone(t).count }

// String says what it is.
func (t *TiltedTable[S]) String() string { return orNone(t).array.String() }

// Width is that of the volume, in voxels.
func (v *Volume[P]) Width() int { return orNone(v).slices.width }

// Height is that of the volume, in voxels.
func (v *Volume[P]) Height() int { return orNone(v).slices.height }

// Depth is that of the volume, in voxels.
func (v *Volume[P]) Depth() int { return orNone(v).depth }

// Channels is how many values a voxel has.
func (v *Volume[P]) Channels() int { return orNone(v).slices.channels }

// String says what it is.
func (v *Volume[P]) String() string { return orNone(v).solid.String() }

// Width is that of the volume, in voxels.
func (t *VolumeTable[S]) Width() int { return orNone(t).slices.width }

// Height is that of the volume, in voxels.
func (t *VolumeTable[S]) Height() int { return orNone(t).slices.height }

// Depth is that of the volume, in voxels.
func (t *VolumeTable[S]) Depth() int { return orNone(t).depth }

// Channels is how many values a voxel has.
func (t *VolumeTable[S]) Channels() int { return orNone(t).slices.channels }

// String says what it is.
func (t *VolumeTable[S]) String() string { return orNone(t).solid.String() }
