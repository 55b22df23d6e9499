package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/grid"
)

// hidden begins the keys of what is no part of the result.
const hidden = ".boxsum/"

// An Array is a Zarr array. Several goroutines may read it at once, and write different objects.
type Array struct {
	bucket   Bucket
	path     string // in the bucket, with a slash at its end if it is not empty
	owned    bool   // the bucket is closed with it
	m        *metadata
	counts   []int // of objects along each axis
	unit     []int // shape of what is decoded at once: a chunk, also of a shard
	units    []int // of these along each axis
	codecs   *chain
	shard    *shard        // if parts of objects can be read
	cache    *cache        // of the indexes of shards, and chunks if asked for
	decoding chan struct{} // of the cache, if chunks are large
	whole    bool          // all objects have to be there, as those of a table
}

// A Spec says how [CreateArray] makes an array.
type Spec struct {
	Type  Type
	Shape []int
	// Chunk is the shape of a chunk, which is compressed and read as a whole.
	Chunk []int
	// Shard is the shape of a shard: one object that holds many chunks. It is a multiple of that of a chunk. Nil
	// stands for an object for each chunk.
	Shard []int
	// Compression is none, zstd, gzip, or blosc: the bytes of elements apart, those that are no noise by zstd. Lz4 is that with LZ4, which is faster. Empty stands for none.
	Compression string
	// Level is that of the compression; zero stands for 1 of zstd, and 6 of gzip.
	Level int
	// Checksum appends a CRC-32C to each chunk.
	Checksum bool
	// BigEndian stores the most significant byte of elements first.
	BigEndian bool
	// Order is of which axes the chunks are stored, the last varying fastest; nil is their order.
	Order []int
	// Fill is the value of elements that were never written, such as 0.5; nil is 0.
	Fill any
	// Names are those of the axes, such as y and x, or nil.
	Names []string
	// Attributes go with the array as JSON.
	Attributes map[string]any
}

// metadata checks a specification.
func (s *Spec) metadata() (*metadata, error) {
	m := &metadata{typ: s.Type, shape: slices.Clone(s.Shape), object: s.Chunk, prefix: "c", separator: "/", version: 3}
	if s.Type.Size() == 0 {
		return nil, grid.Invalid("no type of elements")
	}
	if s.Shard != nil {
		m.object = s.Shard
	}
	m.object = slices.Clone(m.object)
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	var fill json.RawMessage
	var err error
	if s.Fill != nil {
		if f, ok := s.Fill.(float64); ok && (f != f || math.IsInf(f, 0)) {
			fill = json.RawMessage(map[bool]string{true: `"NaN"`, false: `"Infinity"`}[f != f])
			if math.IsInf(f, -1) {
				fill = json.RawMessage(`"-Infinity"`)
			}
		} else if fill, err = json.Marshal(s.Fill); err != nil {
			return nil, grid.Invalid("fill value: %v", err)
		}
	}
	if m.fill, err = parseFill(s.Type, fill); err != nil {
		return nil, err
	}
	var inner []named
	if s.Order != nil {
		inner = append(inner, named{Name: "transpose", Configuration: mustJSON(map[string]any{"order": s.Order})})
	}
	endian := "little"
	if s.BigEndian {
		endian = "big"
	}
	inner = append(inner, named{Name: "bytes", Configuration: mustJSON(map[string]any{"endian": endian})})
	level := s.Level
	switch s.Compression {
	case "", "none":
	case "zstd":
		if level == 0 {
			level = 1
		}
		if level < -131072 || level > 22 {
			return nil, grid.Invalid("level %d of zstd is above 22", level)
		}
		inner = append(inner, named{Name: "zstd", Configuration: mustJSON(map[string]any{"level": level, "checksum": false})})
	case "blosc":
		if level == 0 {
			level = 1
		}
		if level < 1 || level > 9 {
			return nil, grid.Invalid("level %d of blosc is not 1 to 9", level)
		}
		inner = append(inner, named{Name: "blosc", Configuration: mustJSON(&bloscPack{"zstd", level, "shuffle", s.Type.Size(), 0})})
	case "lz4":
		if level != 0 {
			return nil, grid.Invalid("lz4 has no levels, and %d was asked for", level)
		}
		inner = append(inner, named{Name: "blosc", Configuration: mustJSON(&bloscPack{"lz4", 1, "shuffle", s.Type.Size(), 0})})
	case "gzip":
		if level == 0 {
			level = 6
		}
		inner = append(inner, named{Name: "gzip", Configuration: mustJSON(map[string]any{"level": level})})
	default:
		return nil, grid.Invalid("compression %q is none of none, zstd, gzip, blosc and lz4", s.Compression)
	}
	if s.Checksum {
		inner = append(inner, named{Name: "crc32c"})
	}
	codecs := inner
	if s.Shard != nil {
		codecs = []named{{Name: "sharding_indexed", Configuration: mustJSON(map[string]any{
			"chunk_shape": s.Chunk, "codecs": inner, "index_location": "end",
			"index_codecs": []named{{Name: "bytes", Configuration: json.RawMessage(`{"endian":"little"}`)}, {Name: "crc32c"}},
		})}}
	}
	if m.codecs, err = parseChain(codecs, s.Type, m.fill, m.object, 0); err != nil {
		return nil, err
	}
	if s.Names != nil && len(s.Names) != len(s.Shape) {
		return nil, grid.Invalid("%d names for %d axes", len(s.Names), len(s.Shape))
	}
	m.names = s.Names
	for name, value := range s.Attributes {
		data, err := json.Marshal(value)
		if err != nil {
			return nil, grid.Invalid("attribute %q: %v", name, err)
		}
		if m.attributes == nil {
			m.attributes = map[string]json.RawMessage{}
		}
		m.attributes[name] = data
	}
	return m, nil
}

// json is the metadata as version 3 has it.
func (m *metadata) json() []byte {
	a := arrayV3{
		ZarrFormat: 3, NodeType: "array", Shape: m.shape, DataType: mustJSON(m.typ.String()),
		ChunkGrid:        named{Name: "regular", Configuration: mustJSON(map[string]any{"chunk_shape": m.object})},
		ChunkKeyEncoding: named{Name: "default", Configuration: json.RawMessage(`{"separator":"/"}`)},
		FillValue:        fillJSON(m.typ, m.fill), Codecs: m.codecs.describe(), Attributes: m.attributes,
	}
	if a.Shape == nil {
		a.Shape = []int{}
	}
	for i := range m.names {
		a.DimensionNames = append(a.DimensionNames, &m.names[i])
	}
	if a.Attributes == nil {
		a.Attributes = map[string]json.RawMessage{}
	}
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(data, '\n')
}

// CreateArray writes the metadata of a new array at a path of a bucket; "" is its root. Elements hold the fill
// value until they are written. What was there before is written over, chunk by chunk.
func CreateArray(ctx context.Context, b Bucket, path string, spec *Spec) (*Array, error) {
	m, err := spec.metadata()
	if err != nil {
		return nil, err
	}
	a := newArray(b, path, m)
	return grid.OrNil(a, b.Put(ctx, a.path+"zarr.json", m.json()))
}

// WriteArray makes an array, and has write fill it. Its metadata comes last: an array that is written in part is none yet. What is there already is
// not replaced, and nor is a zip file whatever it holds: the error is fs.ErrExist.
func WriteArray(ctx context.Context, b Bucket, path string, spec *Spec, write func(*Array) error) (*Array, error) {
	m, err := spec.metadata()
	if err != nil {
		return nil, err
	}
	if file, there := replaced(b); there {
		return nil, fmt.Errorf("store: %s is there already: remove it, or choose another place: %w", file, fs.ErrExist)
	}
	a := newArray(b, path, m)
	for _, name := range []string{"zarr.json", ".zarray", ".zgroup"} {
		if _, err := b.Get(ctx, a.path+name, 0, -1, nil); err == nil {
			return nil, fmt.Errorf("store: an array or a group is there already: remove it, or choose another place: %w", fs.ErrExist)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err = write(a); err == nil {
		err = b.Put(ctx, a.path+"zarr.json", m.json())
	}
	return grid.OrNil(a, err)
}

func newArray(b Bucket, path string, m *metadata) *Array {
	a := &Array{bucket: b, path: path, m: m, unit: m.object, codecs: m.codecs, cache: newCache(16 << 20)}
	if a.path != "" {
		a.path += "/"
	}
	if s := m.codecs.shard; s != nil && len(m.codecs.orders) == 0 && len(m.codecs.packs) == 0 {
		a.shard, a.unit, a.codecs = s, s.chunk, s.codecs
	}
	for i, n := range m.shape {
		a.counts = append(a.counts, ceil(n, m.object[i]))
		a.units = append(a.units, ceil(n, a.unit[i]))
	}
	return a
}

func ceil(n, of int) int { return n/of + (n%of+of-1)/of }

// Type is that of the elements.
func (a *Array) Type() Type { return a.m.typ }

// Shape is how many elements there are along each axis.
func (a *Array) Shape() []int { return slices.Clone(a.m.shape) }

// Chunk is the shape of a chunk: what is read at once.
func (a *Array) Chunk() []int { return slices.Clone(a.unit) }

// Object is the shape of what is one object: a shard, or a chunk where there are none.
func (a *Array) Object() []int { return slices.Clone(a.m.object) }

// Names are those of the axes, or nil.
func (a *Array) Names() []string { return slices.Clone(a.m.names) }

// Version is that of the Zarr format: 3 or 2.
func (a *Array) Version() int { return a.m.version }

// Codecs lists those of a chunk by name.
func (a *Array) Codecs() (names []string) {
	if a.shard != nil {
		names = append(names, "sharding_indexed")
	}
	for _, n := range a.codecs.describe() {
		names = append(names, n.Name)
	}
	return names
}

// Attribute reads an attribute into what v points to. It reports whether the array has it.
func (a *Array) Attribute(name string, v any) (bool, error) {
	data, ok := a.m.attributes[name]
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return true, bad("attribute %q: %v", name, err)
	}
	return true, nil
}

// Close closes the bucket if the array was opened by its location.
func (a *Array) Close() error {
	if a.owned {
		return a.bucket.Close()
	}
	return nil
}

// about names the array in an error, once.
func (a *Array) about(key string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("store: %s%s: %w", a.path, key, err)
}

// object reads an object, in the memory of buf if it fits. It is nil if it is not there.
func (a *Array) object(ctx context.Context, key string, buf []byte) ([]byte, error) {
	data, err := a.bucket.Get(ctx, a.path+key, 0, -1, buf)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, a.missing(key)
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// missing is nil, or an error if all objects have to be there.
func (a *Array) missing(key string) error {
	if !a.whole {
		return nil
	}
	return a.about(key, bad("a part of the table is not there: verify makes it anew from the image"))
}

// decodeUnit makes the elements of a chunk, all of them, also those beyond the array.
func (a *Array) decodeUnit(ctx context.Context, dst []byte, place []int) error {
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

// packed is a chunk as [chain.page] takes it, or nil if it is not there.
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

// decodePage makes the elements that dst holds, from byte number from of the chunk on.
func (a *Array) decodePage(dst, packed []byte, place []int, from int) error {
	if packed == nil {
		fillBytes(dst, a.m.fill)
		return nil
	}
	return a.about(a.m.key(place), a.codecs.page(dst, packed, from, product(a.unit)*a.m.typ.Size()))
}

// stored hands on what a chunk is stored as, or nil if it is not there.
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

// locate is where a chunk of a shard lies. Its length is negative if it is not there.
func (a *Array) locate(ctx context.Context, place []int) (key string, offset, length int64, err error) {
	object, inner, counts := make([]int, len(place)), make([]int, len(place)), a.shard.counts(a.m.object)
	for i, p := range place {
		object[i], inner[i] = p/counts[i], p%counts[i]
	}
	key = a.m.key(object)
	data, err := a.cache.get(cacheKey{a, ravel(object, a.counts), indexPage}, func() ([]byte, error) {
		index, err := a.shard.readIndex(ctx, a.bucket, a.path+key, a.m.object)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err // which is not kept: it may be written yet
		}
		return bytesOf(index), a.about(key, err)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return key, 0, -1, a.missing(key)
	}
	if err != nil {
		return key, 0, -1, err
	}
	i := ravel(inner, counts)
	index := elementsOf[uint64](data)
	from, n := index[2*i], index[2*i+1]
	if from == absent && n == absent {
		return key, 0, -1, nil
	}
	most := product(a.unit) * a.m.typ.Size()
	if a.codecs.shard != nil {
		most = a.codecs.shard.bound(a.unit)
	}
	for _, p := range a.codecs.packs {
		most = p.bound(most)
	}
	if from > math.MaxInt64-math.MaxInt32 || n > uint64(2*most+4096) {
		return key, 0, -1, a.about(key, bad("the index of the shard is damaged: chunk %v", inner))
	}
	return key, int64(from), int64(n), nil
}

// checkBox refuses boxes that are not in the array, or not of the size of their elements.
func (a *Array) checkBox(have int, at, box []int) error {
	if len(at) != len(a.m.shape) || len(box) != len(at) {
		return grid.Invalid("a box of %d axes at %d of an array of %d", len(box), len(at), len(a.m.shape))
	}
	n := a.m.typ.Size()
	for i := range at {
		if at[i] < 0 || box[i] < 0 || at[i] > a.m.shape[i]-box[i] {
			return grid.Invalid("a box of %v at %v is not in an array of shape %v", box, at, a.m.shape)
		}
		if box[i] > 0 && n > math.MaxInt/box[i] {
			return grid.Invalid("a box of %v does not fit in memory", box)
		}
		n *= box[i]
	}
	if have != n {
		return grid.Invalid("a box of %v has %d bytes, and not %d", box, n, have)
	}
	return nil
}

// each visits the parts of a box that lie in cells of a grid: the place of the cell, and where the part begins in
// the cell and in the box.
func each(at, box, cell []int, visit func(place, inCell, inBox, part []int) error) error {
	n := len(at)
	if slices.Contains(box, 0) {
		return nil
	}
	first, last := make([]int, n), make([]int, n)
	for i := range at {
		first[i], last[i] = at[i]/cell[i], (at[i]+box[i]-1)/cell[i]
	}
	place := slices.Clone(first)
	inCell, inBox, part := make([]int, n), make([]int, n), make([]int, n)
	for {
		for i := range at {
			from, to := max(at[i], place[i]*cell[i]), min(at[i]+box[i], (place[i]+1)*cell[i])
			inCell[i], inBox[i], part[i] = from-place[i]*cell[i], from-at[i], to-from
		}
		if err := visit(place, inCell, inBox, part); err != nil {
			return err
		}
		k := n - 1
		for ; k >= 0; k-- {
			if place[k]++; place[k] <= last[k] {
				break
			}
			place[k] = first[k]
		}
		if k < 0 {
			return nil
		}
	}
}

// readBytes reads a box of elements, in the order of rows and the byte order of this machine. With keep set, chunks stay
// in the cache, for neighbours that need them too.
func (a *Array) readBytes(ctx context.Context, dst []byte, at, box []int, keep bool) error {
	if err := a.checkBox(len(dst), at, box); err != nil {
		return err
	}
	size := a.m.typ.Size()
	var chunk []byte
	return each(at, box, a.unit, func(place, inUnit, inBox, part []int) error {
		if slices.Equal(part, a.unit) && slices.Equal(part, box) { // the box is this chunk
			return a.decodeUnit(ctx, dst, place)
		}
		whole := slices.Equal(part, a.unit)
		var data []byte
		if keep && !whole {
			var err error
			data, err = a.cache.get(cacheKey{a, ravel(place, a.units), wholeChunk}, func() ([]byte, error) {
				chunk := aligned(product(a.unit) * size)
				return chunk, a.decodeUnit(ctx, chunk, place)
			})
			if err != nil {
				return err
			}
		} else {
			if chunk == nil {
				chunk = aligned(product(a.unit) * size)
			}
			if err := a.decodeUnit(ctx, chunk, place); err != nil {
				return err
			}
			data = chunk
		}
		copyBox(dst, box, inBox, data, a.unit, inUnit, part, size)
		return nil
	})
}

// holds reports whether elements of this type may be kept as others.
func (t Type) holds(other Type) bool {
	return t == other || t == Bool && other == Uint8 || t == Float16 && other == Uint16
}

func (a *Array) checkType(t Type) error {
	if !a.m.typ.holds(t) {
		return grid.Types("the array has elements of %v, and not of %v", a.m.typ, t)
	}
	return nil
}

// Read reads a box of elements that begins at a place, the last axis varying fastest. Elements of bool are
// read as uint8, and those of float16 as uint16.
func Read[T Element](ctx context.Context, a *Array, dst []T, at, box []int) error {
	if err := a.checkType(TypeOf[T]()); err != nil {
		return err
	}
	return a.readBytes(ctx, bytesOf(dst), at, box, false)
}

// Write writes a box of elements that begins at a place. An object that the box holds only a part of is read,
// and written anew: nobody else may write to it meanwhile.
func Write[T Element](ctx context.Context, a *Array, src []T, at, box []int) error {
	if err := a.checkType(TypeOf[T]()); err != nil {
		return err
	}
	return a.writeBytes(ctx, bytesOf(src), at, box)
}

// WriteBytes is [Write] for elements of any type, as they lie in memory.
func WriteBytes(ctx context.Context, a *Array, src []byte, at, box []int) error {
	return a.writeBytes(ctx, src, at, box)
}

// ReadAll reads all elements, as a slice of them: those of bool as uint8, of int8 as int16 and of float16 as
// float32.
func ReadAll(ctx context.Context, a *Array) (any, error) {
	n := product(a.m.shape)
	if err := grid.Enough(n, max(a.m.typ.Size(), pixelsOf(a.m.typ).Size())); err != nil {
		return nil, err
	}
	data := aligned(n * a.m.typ.Size())
	if err := a.readBytes(ctx, data, make([]int, len(a.m.shape)), a.m.shape, true); err != nil {
		return nil, err
	}
	switch a.m.typ {
	case Bool, Uint8:
		return elementsOf[uint8](data), nil
	case Uint16:
		return elementsOf[uint16](data), nil
	case Uint32:
		return elementsOf[uint32](data), nil
	case Uint64:
		return elementsOf[uint64](data), nil
	case Int8:
		var wide []int16
		widen(&wide, elementsOf[int8](data), func(v int8) int16 { return int16(v) })
		return wide, nil
	case Int16:
		return elementsOf[int16](data), nil
	case Int32:
		return elementsOf[int32](data), nil
	case Int64:
		return elementsOf[int64](data), nil
	case Float16:
		var wide []float32
		widen(&wide, elementsOf[uint16](data), halfToFloat)
		return wide, nil
	case Float32:
		return elementsOf[float32](data), nil
	}
	return elementsOf[float64](data), nil
}

// Copy writes all elements of an array to another of the same shape and type, object by object.
func Copy(ctx context.Context, dst, src *Array, progress func(done, all int)) error {
	if dst.m.typ != src.m.typ || !slices.Equal(dst.m.shape, src.m.shape) {
		return grid.Invalid("an array of %v and shape %v is no copy of one of %v and shape %v", dst.m.typ, dst.m.shape, src.m.typ, src.m.shape)
	}
	done, all := 0, product(dst.counts)
	var buf []byte
	return each(make([]int, len(dst.m.shape)), dst.m.shape, dst.m.object, func(place, _, inBox, part []int) error {
		buf = room(buf, product(part)*dst.m.typ.Size())
		if err := src.readBytes(ctx, buf, inBox, part, true); err != nil {
			return err
		}
		if err := dst.writeBytes(ctx, buf, inBox, part); err != nil {
			return err
		}
		if done++; progress != nil {
			progress(done, all)
		}
		return nil
	})
}

func (a *Array) writeBytes(ctx context.Context, src []byte, at, box []int) error {
	if a.m.version != 3 {
		return fmt.Errorf("store: arrays of Zarr version %d are read, and not written: %w", a.m.version, errors.ErrUnsupported)
	}
	if err := a.checkBox(len(src), at, box); err != nil {
		return err
	}
	size := a.m.typ.Size()
	var object []byte
	return each(at, box, a.m.object, func(place, inObject, inBox, part []int) error {
		if slices.Equal(part, a.m.object) && slices.Equal(part, box) {
			return a.putObject(ctx, place, src)
		}
		if object == nil {
			object = aligned(product(a.m.object) * size)
		}
		covered := true // but for what lies beyond the array
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
		return a.putObject(ctx, place, object)
	})
}

// putObject writes all elements of an object.
func (a *Array) putObject(ctx context.Context, place []int, data []byte) error {
	s := reads.Get().(*scratch)
	defer reads.Put(s)
	return a.putPacked(ctx, &s.b, place, data)
}

// putPacked is putObject with memory of the caller's to pack in.
func (a *Array) putPacked(ctx context.Context, memory *[]byte, place []int, data []byte) error {
	encoded, err := a.m.codecs.encode(*memory, data, a.m.object)
	if err != nil {
		return err
	}
	if len(encoded) > 0 && len(data) > 0 && &encoded[0] != &data[0] {
		*memory = encoded[:0]
	}
	return a.bucket.Put(ctx, a.path+a.m.key(place), encoded)
}
