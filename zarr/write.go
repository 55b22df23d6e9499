package zarr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	if err := a.checkWritable(); err != nil {
		return err
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

func (a *Array) checkWritable() error {
	if a.m.version != 3 {
		return fmt.Errorf("arrays of Zarr version %d are read-only, want version 3: %w", a.m.version, errors.ErrUnsupported)
	}
	return nil
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
// the same shape and type. Copy does not write objects that contain only the fill value,
// except over objects that exist. If both arrays have the same fill value and src is in a
// folder or a zip file, it does not visit parts of src that are absent. If progress is not
// nil, Copy calls it after each object with the number of objects visited so far and the
// total number.
func Copy(ctx context.Context, dst, src *Array, progress func(done, all int)) error {
	if dst.m.typ != src.m.typ || !slices.Equal(dst.m.shape, src.m.shape) {
		return raster.Invalid("destination is %v of shape %v, want %v of shape %v", dst.m.typ, dst.m.shape, src.m.typ, src.m.shape)
	}
	if err := dst.checkWritable(); err != nil {
		return err
	}
	there, listed, err := dst.written(ctx)
	if err != nil {
		return err
	}
	done, all := 0, raster.Product(dst.counts)
	var buf []byte
	copyObject := func(place, at, part []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = raster.Reuse(buf, raster.Product(part)*dst.m.typ.Size())
		if err := src.readBytes(ctx, buf, at, part, true); err != nil {
			return err
		}
		n := len(dst.m.fill)
		empty := bytes.Equal(buf[:n], dst.m.fill) && bytes.Equal(buf[n:], buf[:len(buf)-n])
		if !empty || !listed || there[ravel(place, dst.counts)] {
			if err := dst.WriteBytes(ctx, buf, at, part); err != nil {
				return err
			}
		}
		if done++; progress != nil {
			progress(done, all)
		}
		return nil
	}
	if !listed || !listable(src.bucket) || !bytes.Equal(dst.m.fill, src.m.fill) || slices.Contains(dst.m.shape, 0) {
		return each(make([]int, len(dst.m.shape)), dst.m.shape, dst.m.object, func(place, _, at, part []int) error {
			return copyObject(place, at, part)
		})
	}
	objects, err := dst.touched(ctx, src)
	if err != nil {
		return err
	}
	for i := range there {
		objects = append(objects, i)
	}
	slices.Sort(objects)
	objects = slices.Compact(objects)
	all = len(objects)
	place, at, part := make([]int, len(dst.counts)), make([]int, len(dst.counts)), make([]int, len(dst.counts))
	for _, i := range objects {
		unravel(place, i, dst.counts)
		for k, size := range dst.m.object {
			at[k] = place[k] * size
			part[k] = min(size, dst.m.shape[k]-at[k])
		}
		if err := copyObject(place, at, part); err != nil {
			return err
		}
	}
	return nil
}

// written returns the numbers of the array's objects that exist, perhaps from an earlier
// array at the same place. ok is false if the bucket cannot list them.
func (a *Array) written(ctx context.Context) (there map[int]bool, ok bool, err error) {
	if len(a.m.shape) == 0 {
		return nil, false, nil
	}
	there = map[int]bool{}
	last := make([]int, len(a.counts))
	for k, n := range a.counts {
		last[k] = n - 1
	}
	err = a.List(ctx, func(o Object) error {
		if place := a.m.parse(strings.TrimPrefix(o.Key, a.path)); place != nil && within(place, make([]int, len(last)), last) {
			there[ravel(place, a.counts)] = true
		}
		return nil
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, false, nil
	}
	return there, true, err
}

// touched returns the numbers of the array's objects that overlap objects of src, except
// those that are known to be absent. Numbers may repeat.
func (a *Array) touched(ctx context.Context, src *Array) (objects []int, err error) {
	n := len(a.counts)
	last := make([]int, n)
	for k, count := range src.counts {
		last[k] = count - 1
	}
	at, box := make([]int, n), make([]int, n)
	err = src.eachPresent(make([]int, n), last, func(place []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for k, size := range src.m.object {
			at[k] = place[k] * size
			box[k] = min(size, src.m.shape[k]-at[k])
		}
		return each(at, box, a.m.object, func(place, _, _, _ []int) error {
			if i := ravel(place, a.counts); len(objects) == 0 || objects[len(objects)-1] != i {
				objects = append(objects, i)
			}
			return nil
		})
	})
	return objects, err
}
