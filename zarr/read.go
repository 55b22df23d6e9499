package zarr

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
)

// Read reads a box of elements into dst, in C order: the last axis varies fastest. at is
// the position of the first element of the box, and box is its shape. The length of dst
// must be the number of elements of the box, and T must match the type of the array's
// elements. Bool elements are read as uint8, and Float16 elements as uint16; see
// [FromFloat16].
func Read[T Element](ctx context.Context, a *Array, dst []T, at, box []int) error {
	if err := a.checkType(TypeOf[T]()); err != nil {
		return err
	}
	return a.ReadBytes(ctx, raster.Bytes(dst), at, box)
}

// ReadAll returns all elements of an array, in the order of [Read].
func ReadAll[T Element](ctx context.Context, a *Array) ([]T, error) {
	if err := a.checkType(TypeOf[T]()); err != nil {
		return nil, err
	}
	dst, err := raster.Make[T](raster.Product(a.m.shape))
	if err != nil {
		return nil, err
	}
	return dst, Read(ctx, a, dst, make([]int, len(a.m.shape)), a.m.shape)
}

// ReadBytes is like [Read] but reads elements of any type, as bytes in this machine's byte
// order. The length of dst must be the size of the box in bytes.
func (a *Array) ReadBytes(ctx context.Context, dst []byte, at, box []int) error {
	return a.readBytes(ctx, dst, at, box, a.keep)
}

// readBytes reads a box. If keep is set, partially read chunks stay in the cache.
func (a *Array) readBytes(ctx context.Context, dst []byte, at, box []int, keep bool) error {
	if err := a.checkBox(len(dst), at, box); err != nil {
		return err
	}
	if first, last := gridOf(at, box, a.unit); len(at) > 0 && !slices.Contains(box, 0) && listable(a.bucket) && raster.Product(spans(first, last)) >= manyUnits {
		return a.readPresent(ctx, dst, at, box, keep)
	}
	var chunk []byte
	return a.readPart(ctx, dst, at, box, at, box, keep, &chunk)
}

// readPart reads a part of a box into its place in dst. chunk is memory for a chunk, or nil.
func (a *Array) readPart(ctx context.Context, dst []byte, at, box, partAt, partBox []int, keep bool, chunk *[]byte) error {
	size := a.m.typ.Size()
	inDst := make([]int, len(at))
	return each(partAt, partBox, a.unit, func(place, inUnit, inBox, part []int) error {
		if err := ctx.Err(); err != nil { // missing and cached chunks never check the context
			return err
		}
		whole := slices.Equal(part, a.unit)
		if whole && slices.Equal(part, box) { // the box is exactly this chunk
			return a.ReadChunk(ctx, dst, place)
		}
		var data []byte
		if keep && !whole {
			var err error
			data, err = a.cache.get(cacheKey{a, ravel(place, a.units), wholeChunk}, func() ([]byte, error) {
				chunk := raster.Aligned(raster.Product(a.unit) * size)
				return chunk, a.ReadChunk(ctx, chunk, place)
			})
			if err != nil {
				return err
			}
		} else {
			if *chunk == nil {
				*chunk = raster.Aligned(raster.Product(a.unit) * size)
			}
			if err := a.ReadChunk(ctx, *chunk, place); err != nil {
				return err
			}
			data = *chunk
		}
		for k := range inDst {
			inDst[k] = partAt[k] - at[k] + inBox[k]
		}
		copyBox(dst, box, inDst, data, a.unit, inUnit, part, size)
		return nil
	})
}

// At reads the element at a position. The array caches the element's chunk, or part of it
// if the chunk is large, so that reading nearby elements is fast.
func At[T Element](ctx context.Context, a *Array, at ...int) (v T, err error) {
	if !a.m.typ.holds(TypeOf[T]()) {
		return v, a.checkType(TypeOf[T]())
	}
	data, err := a.element(ctx, at)
	if err != nil {
		return v, err
	}
	return raster.Elems[T](data)[0], nil
}

// AtBytes is like [At] but reads an element of any type into dst, as bytes in this
// machine's byte order. The length of dst must be the size of the element in bytes.
func (a *Array) AtBytes(ctx context.Context, dst []byte, at ...int) error {
	if size := a.m.typ.Size(); len(dst) != size {
		return raster.Invalid("element of %[2]v has %[1]d bytes, want %[3]d", len(dst), a.m.typ, size)
	}
	data, err := a.element(ctx, at)
	copy(dst, data)
	return err
}

// element returns the bytes of an element, which belong to the cache.
func (a *Array) element(ctx context.Context, at []int) ([]byte, error) {
	if len(at) != len(a.m.shape) {
		return nil, raster.Invalid("index is %v, want one inside the array of shape %v", slices.Clone(at), a.m.shape)
	}
	n, size := len(at), a.m.typ.Size()
	var places, insides [4]int // enough for most arrays
	place, in := append(places[:0], at...), append(insides[:0], at...)
	for d, p := range at {
		if p < 0 || p >= a.m.shape[d] {
			return nil, raster.Invalid("index is %v, want one inside the array of shape %v", slices.Clone(at), a.m.shape)
		}
		place[d], in[d] = p/a.unit[d], p%a.unit[d]
	}
	i, unit, all := ravel(in, a.unit), ravel(place, a.units), raster.Product(a.unit)*size
	key, from, length := cacheKey{a, unit, wholeChunk}, 0, all
	if all > bloscBlock && a.codecs.paged() { // decode only the page with the element
		key.page = i * size / bloscBlock
		from, length = key.page*bloscBlock, min(bloscBlock, all-key.page*bloscBlock)
	}
	data, err := a.cache.get(key, func() ([]byte, error) {
		chunk := raster.Aligned(length)
		where := slices.Clone(place[:n])
		if length == all {
			return chunk, a.ReadChunk(ctx, chunk, where)
		}
		packed, err := a.cache.get(cacheKey{a, unit, packedChunk}, func() ([]byte, error) { return a.packed(ctx, where) })
		if err != nil {
			return nil, err
		}
		return chunk, a.decodePage(chunk, packed, where, from)
	})
	if err != nil {
		return nil, err
	}
	return data[i*size-from:][:size], nil
}

// checkType returns an error if Go elements of type t cannot hold the array's elements.
func (a *Array) checkType(t Type) error {
	if !a.m.typ.holds(t) {
		return raster.Unsupported("the array has elements of %v, not %v", a.m.typ, t)
	}
	return nil
}

// ReadChunk reads all elements of the chunk at the given position in the grid of chunks
// into dst, including elements beyond the edges of the array. The length of dst must be the
// size of a decoded chunk in bytes.
func (a *Array) ReadChunk(ctx context.Context, dst []byte, place []int) error {
	if a.decoding != nil {
		select {
		case a.decoding <- struct{}{}:
			defer func() { <-a.decoding }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return a.stored(ctx, place, func(data []byte) error {
		if data == nil {
			fillBytes(dst, a.m.fill)
			return nil
		}
		return a.codecs.decode(dst, data, a.unit)
	})
}

// ReadObject reads all elements of the object at the given position in the grid of objects
// into dst, whose length must be the size of a decoded object in bytes; see [Array.Object].
// If the object does not exist, ReadObject returns [fs.ErrNotExist].
func (a *Array) ReadObject(ctx context.Context, dst []byte, place []int) error {
	key := a.m.key(place)
	data, err := a.bucket.Get(ctx, a.path+key, 0, -1, nil)
	if err != nil {
		return err
	}
	return a.about(key, a.m.codecs.decode(dst, data, a.m.object))
}

// object returns the bytes of an object, in the memory of buf if they fit, or nil if it
// does not exist.
func (a *Array) object(ctx context.Context, key string, buf []byte) ([]byte, error) {
	data, err := a.bucket.Get(ctx, a.path+key, 0, -1, buf)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// packed returns a chunk in the form that [chain.page] takes, or nil if it does not exist.
func (a *Array) packed(ctx context.Context, place []int) (packed []byte, err error) {
	err = a.stored(ctx, place, func(data []byte) (err error) {
		if data != nil {
			if data, err = a.codecs.checked(data); err == nil {
				packed = slices.Clone(data)
			}
		}
		return err
	})
	return packed, err
}

// decodePage decodes len(dst) bytes of a chunk, starting at from.
func (a *Array) decodePage(dst, packed []byte, place []int, from int) error {
	if packed == nil {
		fillBytes(dst, a.m.fill)
		return nil
	}
	return a.about(a.m.key(place), a.codecs.page(dst, packed, from, raster.Product(a.unit)*a.m.typ.Size()))
}

// stored calls use with the encoded bytes of a chunk, or nil if it does not exist.
func (a *Array) stored(ctx context.Context, place []int, use func(data []byte) error) error {
	s := reads.Get().(*scratch)
	defer reads.Put(s)
	if a.shard == nil {
		key := a.m.key(place)
		data, err := a.object(ctx, key, s.a)
		if err != nil {
			return err
		}
		if data != nil {
			s.a = data[:0]
		}
		return a.about(key, use(data))
	}
	key, offset, length, err := a.locate(ctx, place)
	if err != nil {
		return err
	}
	if length < 0 {
		return use(nil)
	}
	data, err := a.bucket.Get(ctx, a.path+key, offset, length, s.a)
	if err != nil {
		return err
	}
	s.a = data[:0]
	return a.about(key, use(data))
}

var reads = newScratches()

// locate returns the location of a chunk in its shard. The length is negative if the chunk
// does not exist.
func (a *Array) locate(ctx context.Context, place []int) (key string, offset, length int64, err error) {
	object, inner, counts := make([]int, len(place)), make([]int, len(place)), a.shard.counts(a.m.object)
	for i, p := range place {
		object[i], inner[i] = p/counts[i], p%counts[i]
	}
	key = a.m.key(object)
	data, err := a.cache.get(cacheKey{a, ravel(object, a.counts), indexPage}, func() ([]byte, error) {
		index, err := a.shard.readIndex(ctx, a.bucket, a.path+key, a.m.object)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err // not cached: it may still be written
		}
		return raster.Bytes(index), a.about(key, err)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return key, 0, -1, nil
	}
	if err != nil {
		return key, 0, -1, err
	}
	i := ravel(inner, counts)
	index := raster.Elems[uint64](data)
	from, n := index[2*i], index[2*i+1]
	if from == absent && n == absent {
		return key, 0, -1, nil
	}
	most := raster.Product(a.unit) * a.m.typ.Size()
	if a.codecs.shard != nil {
		most = a.codecs.shard.bound(a.unit)
	}
	for _, p := range a.codecs.packs {
		most = p.bound(most)
	}
	if from > math.MaxInt64-math.MaxInt32 || n > uint64(2*most+4096) {
		return key, 0, -1, a.about(key, bad("damaged shard index: the entry of chunk %v is out of range", inner))
	}
	return key, int64(from), int64(n), nil
}
