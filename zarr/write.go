package zarr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
)

// Write writes a box of elements in C order. at and box have the same meaning as in [Read].
// The length of src must be the number of elements of the box. If the box covers only part
// of an object, Write reads and rewrites the object: no other call may write to it at the
// same time.
func Write[T Element](ctx context.Context, a *Array, src []T, at, box []int) error {
	if err := a.checkType(TypeOf[T]()); err != nil {
		return err
	}
	return a.WriteBytes(ctx, raster.Bytes(src), at, box)
}

// WriteBytes is like [Write] but writes elements of any type, given as bytes in this
// machine's byte order. The length of src must be the size of the box in bytes.
func (a *Array) WriteBytes(ctx context.Context, src []byte, at, box []int) error {
	if a.m.version != 3 {
		return fmt.Errorf("Zarr arrays of version %d are read-only: %w", a.m.version, errors.ErrUnsupported)
	}
	if err := a.checkBox(len(src), at, box); err != nil {
		return err
	}
	size := a.m.typ.Size()
	var object []byte
	return each(at, box, a.m.object, func(place, inObject, inBox, part []int) error {
		if slices.Equal(part, a.m.object) && slices.Equal(part, box) {
			return a.WriteObject(ctx, place, slices.Clip(src))
		}
		if object == nil {
			object = raster.Aligned(raster.Product(a.m.object) * size)
		}
		covered := true // except beyond the edges of the array
		for i := range part {
			covered = covered && inObject[i] == 0 && part[i] == min(a.m.object[i], a.m.shape[i]-place[i]*a.m.object[i])
		}
		if covered {
			fillBytes(object, a.m.fill)
		} else {
			key := a.m.key(place)
			data, err := a.object(ctx, key, nil)
			if err != nil {
				return err
			}
			if data == nil {
				fillBytes(object, a.m.fill)
			} else if err := a.m.codecs.decode(object, data, a.m.object); err != nil {
				return a.about(key, err)
			}
		}
		copyBox(object, a.m.object, inObject, src, box, inBox, part, size)
		return a.WriteObject(ctx, place, object)
	})
}

// WriteObject writes all elements of the object at the given position in the grid of
// objects, including elements beyond the edges of the array; see [Array.Object]. The length
// of data must be the size of an object in bytes. WriteObject may overwrite the memory
// between the length and the capacity of data.
func (a *Array) WriteObject(ctx context.Context, place []int, data []byte) error {
	s := reads.Get().(*scratch)
	defer reads.Put(s)
	encoded, err := a.m.codecs.encode(s.b, data, a.m.object)
	if err != nil {
		return err
	}
	if len(encoded) > 0 && len(data) > 0 && &encoded[0] != &data[0] {
		s.b = encoded[:0]
	}
	err = a.bucket.Put(ctx, a.path+a.m.key(place), encoded)
	a.cache.forget(a, place)
	return err
}

// Copy copies all elements of src to dst, one object of dst at a time. The arrays must have
// the same shape and type. If progress is not nil, Copy calls it after each object with the
// number of objects written so far and the total number.
func Copy(ctx context.Context, dst, src *Array, progress func(done, all int)) error {
	if dst.m.typ != src.m.typ || !slices.Equal(dst.m.shape, src.m.shape) {
		return raster.Invalid("destination is %v of shape %v, want %v of shape %v", dst.m.typ, dst.m.shape, src.m.typ, src.m.shape)
	}
	done, all := 0, raster.Product(dst.counts)
	var buf []byte
	return each(make([]int, len(dst.m.shape)), dst.m.shape, dst.m.object, func(place, _, inBox, part []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = raster.Reuse(buf, raster.Product(part)*dst.m.typ.Size())
		if err := src.readBytes(ctx, buf, inBox, part, true); err != nil {
			return err
		}
		if err := dst.WriteBytes(ctx, buf, inBox, part); err != nil {
			return err
		}
		if done++; progress != nil {
			progress(done, all)
		}
		return nil
	})
}
